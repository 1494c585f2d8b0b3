/** What is done to a link under its calls, and how they must end by it. */
import { TOOL_ERROR_TEXTS } from "@relay/protocol";
import type { Scenario, World } from "./scenarios.ts";
import { LOST } from "./soak-link.ts";
import type { Ending, SoakLink } from "./soak-link.ts";

const refused = (outcome: "offline" | "paused" | "cap_reached" | "quota_exceeded"): Ending => ({
  outcome,
  text: TOOL_ERROR_TEXTS[outcome]("Notes"),
  kind: "tool error",
});

/** The app goes away under a call; the next one finds it gone; then it is back. */
async function offline(world: World, link: SoakLink, name: string): Promise<void> {
  const call = await link.held();
  if (world.random.chance(0.5)) link.app.terminate();
  else link.app.close();
  await link.ends(call, LOST, name);
  await link.ends(link.call(), refused("offline"), name);
  await link.connect();
}

/** A newer socket takes the link over while the older one has a call. */
async function takeover(world: World, link: SoakLink, name: string): Promise<void> {
  const call = await link.held();
  const older = link.app;
  await link.connect();
  await link.ends(call, LOST, name);
  const code = await older.closed;
  if (code !== 4001) world.book.fault(`${name}: the older socket closed with ${code}`);
  const next = await link.held();
  link.app.answer(next.callId, next.query);
  await link.ends(next, { outcome: "ok", text: next.query, kind: "result" }, name);
}

/** Pauses under a call, which ends well; the next one is refused. */
async function paused(world: World, link: SoakLink, name: string): Promise<void> {
  const { linkId } = link.facts;
  const byApp = world.random.chance(0.5);
  const set = async (action: "pause" | "resume"): Promise<void> => {
    const id = byApp ? action : null;
    if (byApp) link.app.send({ type: `link.${action}`, id });
    else await world.act(linkId, action);
    const state = await link.app.next("link.state", (frame) => frame["id"] === id);
    if (state["paused"] !== (action === "pause")) world.book.fault(`${name}: not ${action}d`);
  };
  const call = await link.held();
  await set("pause");
  await link.ends(link.call(), refused("paused"), name);
  link.app.answer(call.callId, call.query);
  await link.ends(call, { outcome: "ok", text: call.query, kind: "result" }, name);
  await set("resume");
}

/** Rotates under a call, which goes on; the old URL is gone, the new one works. */
async function rotated(world: World, link: SoakLink, name: string): Promise<void> {
  const call = await link.held();
  link.app.send({ type: "link.rotate", id: "r" });
  const { mcpUrl } = await link.app.next("link.rotated", ({ id }) => id === "r");
  const old = await link.post("ping").answer;
  if (old?.status !== 404) world.book.fault(`${name}: the old URL answers ${old?.status}`);
  link.mcpUrl = String(mcpUrl);
  const now = await link.post("ping").answer;
  if (now?.status !== 200) world.book.fault(`${name}: the new URL answers ${now?.status}`);
  link.app.answer(call.callId, call.query);
  await link.ends(call, { outcome: "ok", text: call.query, kind: "result" }, name);
}

/** Revokes under a call; the link's place is taken by a new one. */
async function revoked(world: World, link: SoakLink, name: string): Promise<void> {
  const call = await link.held();
  const byApp = world.random.chance(0.5);
  const id = byApp ? "v" : null;
  if (byApp) link.app.send({ type: "link.revoke", id });
  else await world.act(link.facts.linkId, "revoke");
  await link.app.next("link.revoked", (frame) => frame["id"] === id);
  const code = await link.app.closed;
  if (code !== 4410) world.book.fault(`${name}: closed with ${code}`);
  await link.ends(call, LOST, name);
  const gone = await link.post("ping").answer;
  if (gone?.status !== 404) world.book.fault(`${name}: the URL answers ${gone?.status}`);
  await link.become(await world.newLink());
}

export const DISTURBANCES: Readonly<Record<string, Scenario>> = {
  offline: { weight: 4, calls: 2, run: offline },
  takeover: { weight: 4, calls: 2, run: takeover },
  paused: { weight: 3, calls: 2, run: paused },
  rotated: { weight: 3, calls: 1, run: rotated },
  revoked: { weight: 1, calls: 1, run: revoked },
};

/** On a link whose project may not spend. */
export async function capped(_world: World, link: SoakLink, name: string): Promise<void> {
  await link.ends(link.call(), refused("cap_reached"), name);
}

/** On a link whose account has nothing to spend. */
export async function broke(_world: World, link: SoakLink, name: string): Promise<void> {
  await link.ends(link.call(), refused("quota_exceeded"), name);
}

export const LIMITED_CALLS_PER_MINUTE = 2;
/** A window is 60 s from its first call; past this it is over on any clock. */
const WINDOW_MS = 62_000;

/** On a link that may be called twice a minute. */
export async function limited(_world: World, link: SoakLink, name: string): Promise<void> {
  if (performance.now() < link.windowEndsAt) return;
  for (let left = LIMITED_CALLS_PER_MINUTE; left > 0; left -= 1) {
    const call = await link.held();
    link.app.answer(call.callId, call.query);
    await link.ends(call, { outcome: "ok", text: call.query, kind: "result" }, name);
    link.windowEndsAt = Math.max(link.windowEndsAt, performance.now() + WINDOW_MS);
  }
  const call = link.call();
  const answer = await call.host.answer;
  const said = String(answer?.messages[0]?.["result"]?.content[0].text);
  // How long is left of the window only Relay knows to the second.
  const seconds = Number(/Try again in (\d+) seconds?\.$/.exec(said)?.[1]);
  const text = TOOL_ERROR_TEXTS.rate_limited("Notes", seconds);
  await link.ends(call, { outcome: "rate_limited", text, kind: "tool error" }, name);
}
