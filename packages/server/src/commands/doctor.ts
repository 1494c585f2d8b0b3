import { existsSync, statSync, statfsSync } from "node:fs";
import { inspectPeople } from "../accounts/inspect-people.ts";
import type { PeopleInspection } from "../accounts/inspect-people.ts";
import type { Config } from "../config.ts";
import { inspect } from "../store/inspect.ts";
import type { Inspection } from "../store/inspect.ts";
import { VERSION } from "./version.ts";

/** One thing that was looked at, in a sentence. */
type Finding = {
  readonly state: "ok" | "warn" | "fault";
  readonly what: string;
  readonly says: string;
};

const NODE_MINIMUM = { major: 24, minor: 15 } as const;
const DISK_FREE_MINIMUM = 256 * 1024 * 1024;
const DISK_FREE_COMFORT = 1024 * 1024 * 1024;
/** Calls may begin this far in the future of this clock before it is called wrong. */
const CLOCK_SLACK_MS = 60_000;
const ANSWER_MS = 5_000;

/**
 * `relay doctor`: looks over the data folder, the clock, the disk and the addresses, beside a server
 * or without one, and says what is wrong where. Returns 1 if anything is.
 */
export async function doctor(config: Config): Promise<number> {
  const findings = [
    nodeFinding(),
    ...folderFindings(config),
    ...databaseFindings(config),
    ...(await addressFindings(config)),
    ...hostFindings(config),
  ];
  process.stdout.write(`Relay ${VERSION}, data folder ${config.dataDir}\n\n`);
  for (const { state, what, says } of findings) {
    process.stdout.write(`  ${state.padEnd(5)}  ${what.padEnd(11)}  ${says}\n`);
  }
  const faults = findings.filter(({ state }) => state === "fault").length;
  const end = faults === 0 ? "Nothing is wrong." : `${faults} thing(s) to mend.`;
  process.stdout.write(`\n${end}\n`);
  return faults === 0 ? 0 : 1;
}

function nodeFinding(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const fits =
    major > NODE_MINIMUM.major || (major === NODE_MINIMUM.major && minor >= NODE_MINIMUM.minor);
  return fits
    ? ok("node", process.versions.node)
    : fault(
        "node",
        `${process.versions.node} is too old; use ${NODE_MINIMUM.major}.${NODE_MINIMUM.minor}`,
      );
}

function folderFindings({ dataDir }: Config): Finding[] {
  if (!existsSync(dataDir)) return [warn("folder", "there is none yet; the first start makes it")];
  const mode = statSync(dataDir).mode & 0o777;
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  const disk = `${megabytes(free)} free`;
  return [
    (mode & 0o077) === 0
      ? ok("folder", `only its owner can read it (mode ${mode.toString(8)})`)
      : warn(
          "folder",
          `others on this machine can read it (mode ${mode.toString(8)}); chmod 700 it`,
        ),
    free < DISK_FREE_MINIMUM
      ? fault("disk", `${disk}: calls will soon not be written down`)
      : free < DISK_FREE_COMFORT
        ? warn("disk", disk)
        : ok("disk", disk),
  ];
}

function databaseFindings({ dataDir }: Config): Finding[] {
  let found: Inspection | null;
  try {
    found = inspect(dataDir);
  } catch (error) {
    return [fault("database", error instanceof Error ? error.message : String(error))];
  }
  if (found === null) return [warn("database", "there is none yet")];
  return [
    found.damage.length === 0
      ? ok("database", `sound, schema ${found.schema}, ${megabytes(found.bytes)}`)
      : fault("database", `damaged: ${found.damage.join("; ")}. Restore a backup.`),
    ok(
      "contents",
      `${found.projects} projects, ${found.links} links, ${found.connected} connected`,
    ),
    countFinding(found),
    ...moneyFindings(found),
    peopleFinding(dataDir, found),
    clockFinding(found),
  ];
}

function countFinding(found: Inspection): Finding {
  const [first] = found.countFaults;
  if (first === undefined) {
    return ok(
      "counts",
      `${found.counted} counted; the rows of ${found.days} days agree with the hourly sums`,
    );
  }
  return fault(
    "counts",
    `${found.countFaults.length} day(s) differ; project ${first.projectId} on ${first.day}: ${first.rows} counted rows, ${first.sums} in the hourly sums`,
  );
}

/** The dashboard's users, who are kept in a database of their own. */
function peopleFinding(dataDir: string, { isSetUp }: Inspection): Finding {
  let people: PeopleInspection | null;
  try {
    people = inspectPeople(dataDir);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fault("users", `auth.db can't be read: ${why}. Restore a backup.`);
  }
  if (people !== null && people.damage.length > 0) {
    return fault("users", `auth.db is damaged: ${people.damage.join("; ")}. Restore a backup.`);
  }
  const { users, sessions } = people ?? { users: 0, sessions: 0 };
  if (users > 0) return ok("users", `${users} of the dashboard, with ${sessions} sessions`);
  return isSetUp
    ? fault("users", "the first user was made, and auth.db has none. Restore it from a backup.")
    : warn("users", "the dashboard has none yet; `relay setup-link` prints a link that makes one");
}

/** What must hold of money always does, or what of it does not, and where (SPEC 10). */
function moneyFindings({ money }: Inspection): Finding[] {
  if (money.faults.length > 0) {
    return money.faults.map(({ invariant, where, says }) =>
      fault("money", `${invariant}, ${where}: ${says}`),
    );
  }
  return [ok("money", `${money.accounts} balances and ${money.months} months add up`)];
}

function clockFinding({ newestCallAt }: Inspection): Finding {
  const ahead = newestCallAt === null ? 0 : newestCallAt - Date.now();
  return ahead <= CLOCK_SLACK_MS
    ? ok("clock", new Date().toISOString())
    : fault(
        "clock",
        `the newest call is ${Math.round(ahead / 1000)} s in the future of this clock`,
      );
}

async function addressFindings({ publicUrl, mcpPublicUrl }: Config): Promise<Finding[]> {
  const urls = [...new Set([publicUrl, mcpPublicUrl])];
  return Promise.all(urls.map(addressFinding));
}

async function addressFinding(url: string): Promise<Finding> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const body: unknown = await answer.json().catch(() => null);
    if (answer.ok) return ok("server", `${url} is ready for calls`);
    return fault("server", `${url}/readyz answers ${answer.status}: ${messageIn(body)}`);
  } catch {
    return warn("server", `nothing answers at ${url}`);
  }
}

function messageIn(body: unknown): string {
  if (typeof body !== "object" || body === null || !("error" in body))
    return "not a Relay's answer";
  const { error } = body;
  return typeof error === "object" && error !== null && "message" in error
    ? String(error.message)
    : "not a Relay's answer";
}

/** What each host will accept of the address that its users are given. */
function hostFindings({ mcpPublicUrl }: Config): Finding[] {
  const { protocol, hostname } = new URL(mcpPublicUrl);
  const isLocal = /^(localhost|127\.|\[::1\]|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/.test(
    hostname,
  );
  const isPublic = protocol === "https:" && !isLocal;
  const inCloud = "Claude, ChatGPT and other hosts in the cloud";
  const local = "Claude Code, Cursor, VS Code and other hosts on this machine";
  return [
    ok("hosts", `${local} take ${mcpPublicUrl}`),
    isPublic
      ? ok("hosts", `${inCloud} take it if it can be reached from the internet`)
      : warn("hosts", `${inCloud} need a public https address: set RELAY_PUBLIC_URL`),
  ];
}

function ok(what: string, says: string): Finding {
  return { state: "ok", what, says };
}

function warn(what: string, says: string): Finding {
  return { state: "warn", what, says };
}

function fault(what: string, says: string): Finding {
  return { state: "fault", what, says };
}

function megabytes(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
