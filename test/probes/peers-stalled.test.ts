/** A host that stops reading for good. What ends it takes its true time, so it runs in the long run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connectApp } from "../e2e/harness.ts";
import { callText } from "../e2e/calls-rows.ts";
import { RawConnection, requestText } from "../e2e/host-raw.ts";
import { Probed } from "./probed.ts";

const CALL_TIMEOUT_MS = 500;
/** A connection on which nothing moves is kept for so much longer than a call may take. */
const STALLED_MS = CALL_TIMEOUT_MS + 20_000;
const skip = process.env["TEST_LONG"] === undefined ? "it takes 50 seconds: npm run long" : false;

test(
  "a host that reads nothing for longer than any call takes is let go, with all that waits for it",
  {
    skip,
  },
  async () => {
    await using probed = await Probed.open({
      RELAY_CALL_TIMEOUT_SECONDS: String(CALL_TIMEOUT_MS / 1000),
    });
    const { port, relay } = probed.relay;
    const link = await probed.project.link();
    const app = await connectApp(link);
    const deaf = new RawConnection(port);
    deaf.socket.pause();
    const requests = 500;
    deaf.send(requestText(port, "GET", "/openapi.json").repeat(requests));
    const mute = new RawConnection(port);
    mute.socket.pause();
    const { pathname } = new URL(link.mcpUrl);
    const headers = { "Content-Type": "application/json" };
    mute.send(requestText(port, "POST", pathname, headers, callText('{"query":"x"}')).repeat(20));
    await app.next("call");
    // The runtime looks twice before it believes that a write makes no progress.
    await sleep(2 * STALLED_MS + 5_000);
    await probed.assertUndisturbed();
    assert.equal(relay.node.inFlight, 0);
    deaf.socket.resume();
    const read = await deaf.closed;
    assert.ok(read.split("HTTP/1.1 200").length - 1 < requests, "the rest was never answered");
    mute.socket.destroy();
    await app.close();
  },
);
