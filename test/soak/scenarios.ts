/** What a host and an app do with a link when nothing breaks: every way a call can end by itself. */
import { RPC_TEXTS, TOOL_ERROR_TEXTS } from "@relay/protocol";
import type { Random } from "../../packages/server/src/core/schema/test/random.ts";
import { HASTY } from "./app-socket.ts";
import type { LinkFacts } from "./app-socket.ts";
import type { Book } from "./book.ts";
import type { Ending, SoakLink } from "./soak-link.ts";

/** What a scenario may use besides its link. */
export type World = {
  readonly random: Random;
  readonly book: Book;
  readonly callTimeoutSeconds: number;
  /** Makes a link in the project that most links are of. */
  readonly newLink: () => Promise<LinkFacts>;
  /** A developer's action on a link: rotate, pause, resume, revoke. */
  readonly act: (linkId: string, action: string) => Promise<void>;
};

export type Scenario = {
  /** How often it is chosen, beside the others. */
  readonly weight: number;
  /** About how many calls it makes. */
  readonly calls: number;
  readonly run: (world: World, link: SoakLink, name: string) => Promise<void>;
};

const done = (text: string): Ending => ({ outcome: "ok", text, kind: "result" });
export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

async function ok(_world: World, link: SoakLink, name: string): Promise<void> {
  const call = await link.held();
  link.app.answer(call.callId, call.query);
  await link.ends(call, done(call.query), name);
}

async function slow(world: World, link: SoakLink, name: string): Promise<void> {
  const call = await link.held();
  await pause(200 + world.random.below(1_800));
  link.app.answer(call.callId, call.query);
  await link.ends(call, done(call.query), name);
}

async function asJson(_world: World, link: SoakLink, name: string): Promise<void> {
  const call = await link.held({ headers: { Accept: "application/json" } });
  link.app.answer(call.callId, call.query);
  await link.ends(call, done(call.query), name);
}

async function large(world: World, link: SoakLink, name: string): Promise<void> {
  const call = await link.held();
  const text = "x".repeat(10_000 + world.random.below(110_000));
  link.app.answer(call.callId, text);
  await link.ends(call, done(text), name);
}

async function progress(world: World, link: SoakLink, name: string): Promise<void> {
  const call = await link.held({ meta: { progressToken: `p${link.facts.linkId}` } });
  for (let step = 1; step <= 3; step += 1) {
    link.app.send({ type: "progress", id: call.callId, progress: step, total: 3 });
  }
  if (world.random.chance(0.2)) await pause(1_500);
  link.app.answer(call.callId, call.query);
  const { messages } = await link.ends(call, done(call.query), name);
  const values = messages
    .filter((message) => message["method"] === "notifications/progress")
    .map((message) => Number(message["params"].progress));
  const isGrowing = values.every((value, at) => value > (values[at - 1] ?? -1));
  if (!isGrowing || !values.includes(3)) world.book.fault(`${name}: ${values.join()}`);
}

async function toolError(world: World, link: SoakLink, name: string): Promise<void> {
  const call = await link.held();
  if (world.random.chance(0.5)) {
    link.app.send({ type: "error", id: call.callId, message: "database is locked" });
    const text = "database is locked";
    await link.ends(call, { outcome: "tool_error", text, kind: "tool error" }, name);
    return;
  }
  const content = [{ type: "text", text: "No such note" }];
  link.app.send({ type: "result", id: call.callId, content, isError: true });
  await link.ends(call, { outcome: "ok", text: "No such note", kind: "tool error" }, name);
}

async function unacceptable(_world: World, link: SoakLink, name: string): Promise<void> {
  const call = await link.held();
  link.app.send({ type: "result", id: call.callId, content: "not a list" });
  const { message } = await link.app.next("error", ({ id }) => id === call.callId);
  const text = TOOL_ERROR_TEXTS.unacceptable(String(message));
  await link.ends(call, { outcome: "tool_error", text, kind: "tool error" }, name);
}

async function timeout(world: World, link: SoakLink, name: string): Promise<void> {
  const call = await link.held();
  await link.app.cancel(call.callId);
  link.app.answer(call.callId, "too late");
  const text = TOOL_ERROR_TEXTS.timeout("Notes", world.callTimeoutSeconds);
  await link.ends(call, { outcome: "timeout", text, kind: "tool error" }, name);
}

async function hostLeaves(world: World, link: SoakLink, name: string): Promise<void> {
  const call = await link.held();
  const { requestId } = await call.host.head;
  call.host.leave();
  await link.app.cancel(call.callId);
  link.app.answer(call.callId, "too late");
  world.book.predict(requestId, link.facts.linkId, "cancelled", name);
}

async function hostCancels(world: World, link: SoakLink, name: string): Promise<void> {
  const call = await link.held();
  const notice = link.notify("notifications/cancelled", { requestId: call.id });
  const said = await notice.answer;
  if (said?.status !== 202) world.book.fault(`${name}: ${said?.status}`);
  await link.app.cancel(call.callId);
  const text = TOOL_ERROR_TEXTS.cancelled();
  await link.ends(call, { outcome: "cancelled", text, kind: "tool error" }, name);
}

/** Leaves at a moment nobody chose: the call may be over, in the app, or not even have arrived. */
async function hasty(world: World, link: SoakLink): Promise<void> {
  world.book.addHasty(link.facts.linkId);
  const call = link.call({}, HASTY);
  await pause(world.random.below(6));
  call.host.leave();
  await call.host.answer;
}

async function busy(world: World, link: SoakLink, name: string): Promise<void> {
  const calls = await Promise.all(Array.from({ length: 8 }, () => link.held()));
  const text = TOOL_ERROR_TEXTS.busy("Notes");
  await link.ends(link.call(), { outcome: "busy", text, kind: "tool error" }, name);
  const shuffled = calls.toSorted(() => world.random.next() - 0.5);
  for (const call of shuffled) link.app.answer(call.callId, call.query);
  await Promise.all(calls.map((call) => link.ends(call, done(call.query), name)));
}

async function invalidInput(_world: World, link: SoakLink, name: string): Promise<void> {
  const text = RPC_TEXTS.invalidArguments("search_notes", "");
  const ending: Ending = { outcome: "invalid_input", text, kind: "rpc error" };
  await link.ends(link.call({ args: { query: 7 } }), ending, name);
}

async function unknownTool(_world: World, link: SoakLink, name: string): Promise<void> {
  const ending: Ending = {
    outcome: "unknown_tool",
    text: RPC_TEXTS.unknownTool("no_such_tool"),
    kind: "rpc error",
  };
  await link.ends(link.call({ tool: "no_such_tool" }), ending, name);
}

async function instant(world: World, link: SoakLink, name: string): Promise<void> {
  const clientInfo = { name: "soak", version: "1" };
  const answers = await Promise.all([
    link.post("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }).answer,
    link.post("tools/list").answer,
    link.post("ping").answer,
  ]);
  const [, list] = answers;
  const isWhole = answers.every((answer) => answer?.status === 200);
  if (!isWhole || list?.messages[0]?.["result"].tools.length !== 6) {
    world.book.fault(`${name}: ${answers.map((answer) => answer?.text).join(" ")}`);
  }
}

/** Every one but `hasty` ends each call in one way and no other. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  ok: { weight: 40, calls: 1, run: ok },
  slow: { weight: 8, calls: 1, run: slow },
  asJson: { weight: 4, calls: 1, run: asJson },
  large: { weight: 1, calls: 1, run: large },
  progress: { weight: 5, calls: 1, run: progress },
  toolError: { weight: 6, calls: 1, run: toolError },
  unacceptable: { weight: 3, calls: 1, run: unacceptable },
  timeout: { weight: 2, calls: 1, run: timeout },
  hostLeaves: { weight: 4, calls: 1, run: hostLeaves },
  hostCancels: { weight: 4, calls: 1, run: hostCancels },
  hasty: { weight: 4, calls: 1, run: hasty },
  busy: { weight: 1, calls: 9, run: busy },
  invalidInput: { weight: 3, calls: 1, run: invalidInput },
  unknownTool: { weight: 3, calls: 1, run: unknownTool },
  instant: { weight: 5, calls: 1, run: instant },
};
