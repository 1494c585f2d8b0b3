/**
 * Failures that others had, by the id they have in the list that is kept beside the tree, each with
 * the tests that show what Relay does instead, and what of it they leave out.
 */
export type Shown = readonly [file: string, test: string];

export type Case = {
  readonly id: string;
  readonly about: string;
  readonly shownBy: readonly Shown[];
  /** What of the case no test shows, and why. */
  readonly notShown?: string;
};

const STREAM = "test/e2e/host-stream.test.ts";
const CANCEL = "test/e2e/calls-cancel.test.ts";
const ANSWERS = "test/e2e/calls-answers.test.ts";
const BYTES = "test/e2e/host-bytes.test.ts";
const METHODS = "test/e2e/host-methods.test.ts";
const REFUSALS = "test/e2e/host-refusals.test.ts";
const SIZES = "test/e2e/socket-sizes.test.ts";
const MANIFEST = "test/e2e/socket-manifest.test.ts";
const DRAIN = "test/e2e/drain-process.test.ts";
const HOSTS = "test/probes/peers-hosts.test.ts";
const APPS = "test/probes/peers-apps.test.ts";
const QUIET_STREAM =
  "a quiet stream carries keep-alive comments, never an id, and exactly one message";
const HEAD_AT_ONCE = "the whole head and a comment are there while the app is still silent";

export const CASES: readonly Case[] = [
  {
    id: "D-A1",
    about: "a proxy that buffers",
    notShown:
      "no proxy runs in the tests: what it obeys, and that the first byte leaves at once, is shown",
    shownBy: [
      [STREAM, HEAD_AT_ONCE],
      [
        "test/probes/http-proxied.test.ts",
        "a stream tells a proxy not to hold it back, change it or compress it, whatever the host accepts",
      ],
    ],
  },
  {
    id: "D-A2",
    about: "the head held back until the first event",
    shownBy: [[STREAM, HEAD_AT_ONCE]],
  },
  {
    id: "D-A3",
    about: "streams that end without an answer",
    shownBy: [
      [
        STREAM,
        "a stream ends with an answer when the app's socket closes, breaks off, is taken over or dropped",
      ],
      [STREAM, "a stream ends with an answer when Relay stops"],
      [
        DRAIN,
        "what does not finish within the drain ends as disconnected with an answer, and its row is kept",
      ],
    ],
  },
  {
    id: "D-A4",
    about: "idle timers that end quiet streams",
    notShown:
      "the call takes some 20 s; nothing in between ends later than that before the call's own 180 s",
    shownBy: [
      [
        "test/e2e/host-edge.test.ts",
        "a call that the app answers after all those limits is answered to the host",
      ],
    ],
  },
  { id: "D-A5", about: "keep-alives taken for data", shownBy: [[STREAM, QUIET_STREAM]] },
  {
    id: "D-A6",
    about: "compressed streams",
    shownBy: [
      [
        "test/probes/http-proxied.test.ts",
        "a stream tells a proxy not to hold it back, change it or compress it, whatever the host accepts",
      ],
    ],
  },
  {
    id: "D-A7",
    about: "line breaks that split an event",
    shownBy: [
      [
        "test/probes/http-proxied.test.ts",
        "line breaks, event syntax, NUL and line separators in an answer stay inside its one event",
      ],
      [
        BYTES,
        "arguments reach the app, and its answer the host, byte for byte; line breaks become blanks",
      ],
    ],
  },
  { id: "D-A8", about: "middlemen that end silent streams", shownBy: [[STREAM, QUIET_STREAM]] },
  {
    id: "D-B1",
    about: "a host that is gone unnoticed",
    shownBy: [
      [
        CANCEL,
        "a host that goes away cancels its call: by FIN, by RST, or without having read any of the answer",
      ],
      [
        HOSTS,
        "a host that leaves at any point of the answer cancels its call if it runs, and never hurts it if it is over",
      ],
    ],
  },
  {
    id: "D-B2",
    about: "a cancel that never reaches the app",
    shownBy: [
      [
        CANCEL,
        "notifications/cancelled tells the app, and the stream ends with a tool error that says so",
      ],
    ],
  },
  {
    id: "D-B3",
    about: "a cancel that waits behind calls",
    shownBy: [
      [CANCEL, "with all places taken a cancel is carried out at once, and the place is free"],
    ],
  },
  {
    id: "D-B4",
    about: "an answer after the cancel",
    shownBy: [
      [
        CANCEL,
        "an answer that comes after cancel is dropped: no error frame, no second row, no strike",
      ],
    ],
  },
  {
    id: "D-B5",
    about: "what abandoned calls leave behind",
    shownBy: [
      [CANCEL, "two hundred calls that hosts abandon at random moments leave nothing behind"],
      [
        "test/soak/soak.test.ts",
        "under mixed traffic and storms every call ends as what was done to it explains",
      ],
    ],
  },
  {
    id: "D-B6",
    about: "a peer that vanished with a call in flight",
    notShown:
      "the peer says and reads nothing more; packets that are dropped take a network of their own",
    shownBy: [
      [
        APPS,
        "an app that vanishes is noticed within the silence limit, and its call ends as disconnected",
      ],
    ],
  },
  {
    id: "D-B7",
    about: "hosts that share a link",
    shownBy: [
      [STREAM, "each stream gets the answer to its own call, whatever the order and the ids"],
    ],
  },
  {
    id: "D-C1",
    about: "ids that change their type",
    shownBy: [[BYTES, "a JSON-RPC id comes back as it was written, at once and on a stream"]],
  },
  {
    id: "D-C2",
    about: "hosts that number every call alike",
    shownBy: [
      [
        CANCEL,
        "twenty calls with the same id each get their own answer, and a cancel of that id hits none",
      ],
    ],
  },
  {
    id: "D-C3",
    about: "an empty result that becomes a list",
    shownBy: [["test/e2e/host-instant.test.ts", "ping answers an empty result"]],
  },
  {
    id: "D-C4",
    about: "notifications that crash",
    shownBy: [
      [REFUSALS, "a notification or a response gets 202 with nothing in it"],
      [REFUSALS, "nothing of all this is worth a warning in the log"],
    ],
  },
  {
    id: "D-C5",
    about: "state kept for every probe",
    shownBy: [[HOSTS, "requests from 1,500 fresh connections leave nothing behind"]],
  },
  {
    id: "D-D1",
    about: "half surrogate pairs",
    shownBy: [
      [
        BYTES,
        "half a surrogate pair passes to the app, and becomes \\ufffd on the way to the host",
      ],
    ],
  },
  {
    id: "D-D2",
    about: "UTF-8 read as Latin-1",
    shownBy: [[BYTES, "text is UTF-8 both ways and says so"]],
  },
  {
    id: "D-D3",
    about: "large integers that are rounded",
    shownBy: [
      [
        BYTES,
        "arguments reach the app, and its answer the host, byte for byte; line breaks become blanks",
      ],
    ],
  },
  {
    id: "D-D4",
    about: "large images",
    shownBy: [
      [
        ANSWERS,
        "an image of 127 KiB passes, larger ones get an error that names the limit, over a frame the socket drops",
      ],
    ],
  },
  {
    id: "D-D5",
    about: "images that are none",
    shownBy: [
      [
        "packages/server/src/core/content-block.test.ts",
        "what a client would not parse is refused with its place",
      ],
      [
        ANSWERS,
        "an unusable answer ends its call with the reason for host and app, counts, and is no strike",
      ],
    ],
  },
  {
    id: "D-D6",
    about: "deep nesting",
    shownBy: [
      [
        ANSWERS,
        "nested arguments pass to the depth a body may have; deeper ones are refused and Relay stays up",
      ],
    ],
  },
  {
    id: "D-D7",
    about: "numbers no double holds",
    shownBy: [
      [
        BYTES,
        "arguments reach the app, and its answer the host, byte for byte; line breaks become blanks",
      ],
    ],
  },
  {
    id: "D-E1",
    about: "a declared outputSchema and no structured answer",
    shownBy: [
      [
        ANSWERS,
        "structuredContent is held to the tool's outputSchema, and stands alone if it must",
      ],
    ],
  },
  {
    id: "D-E2",
    about: "a list as structuredContent",
    shownBy: [
      [
        "packages/server/src/core/answer.test.ts",
        "must have an object as structuredContent or none",
      ],
    ],
  },
  {
    id: "D-E3",
    about: "errors held to the outputSchema",
    shownBy: [
      [
        ANSWERS,
        "an answer that is an error is not held to the outputSchema, loses its structuredContent, and is ok",
      ],
    ],
  },
  {
    id: "D-E4",
    about: "references to nothing",
    shownBy: [[MANIFEST, "a manifest ${what} is refused with its place, then 4400"]],
  },
  {
    id: "D-E5",
    about: "JSON Schema dialects",
    shownBy: [
      [
        "packages/server/src/core/schema/prepare.test.ts",
        "in draft-07 a $ref stands alone, and later its siblings count",
      ],
    ],
  },
  {
    id: "D-E6",
    about: "patterns that backtrack",
    shownBy: [
      [
        "packages/server/src/core/schema/regex/redos.test.ts",
        "a pattern that hangs a backtracking engine ends within the stated steps",
      ],
    ],
  },
  {
    id: "D-E7",
    about: "a cache of validators that grows",
    shownBy: [
      [
        "packages/server/src/core/byte-cache.test.ts",
        "the cache never holds more bytes than it may, whatever is put",
      ],
    ],
  },
  {
    id: "D-F1",
    about: "tool names that block a chat",
    shownBy: [
      [MANIFEST, "a manifest ${what} is refused with its place, then 4400"],
      [BYTES, "names of every object's own methods are ordinary tool names"],
    ],
  },
  {
    id: "D-G1",
    about: "discovery answered with text or HTML",
    shownBy: [
      [METHODS, "nothing is found where hosts look for a sign-in: 404 with a small JSON body"],
    ],
  },
  {
    id: "D-G2",
    about: "preflights refused",
    shownBy: [
      [METHODS, "OPTIONS gets 204 before any check and reflects the headers a browser asks for"],
    ],
  },
  {
    id: "D-G3",
    about: "404 and endless sign-ins",
    shownBy: [
      [REFUSALS, "an unknown, malformed, rotated or revoked URL token gets 404, never 401"],
    ],
  },
  {
    id: "D-H1",
    about: "pooled connections closed by the server first",
    shownBy: [
      [
        "test/e2e/host-edge.test.ts",
        "an idle connection is kept for longer than the 60 seconds of the usual proxies",
      ],
    ],
  },
  {
    id: "D-H2",
    about: "a shutdown that hangs",
    shownBy: [
      [
        DRAIN,
        "with nothing in flight SIGTERM closes sockets with 1012 and exits 0, whatever is connected",
      ],
      [
        DRAIN,
        "a second signal within a second is the first one again; a later one ends the process at once",
      ],
      [
        "test/probes/http-drain.test.ts",
        "nobody who stops reading, or stops halfway, holds up the end",
      ],
    ],
  },
  {
    id: "D-H3",
    about: "tool lists after a restart",
    shownBy: [
      [
        "test/e2e/store-crash.test.ts",
        "after a crash no link looks connected, and hosts list the tools of apps that are away",
      ],
    ],
  },
  {
    id: "D-I1",
    about: "half-open peers that look connected",
    notShown: "as D-B6",
    shownBy: [
      [
        "test/e2e/socket-silence.test.ts",
        "a peer that vanished is noticed: its link is offline once the silence was long enough",
      ],
    ],
  },
  {
    id: "D-I2",
    about: "reconnect storms",
    notShown: "the pace of 2,000 apps that come back is measured by the benchmark, not asserted",
    shownBy: [
      [
        "test/soak/soak.test.ts",
        "under mixed traffic and storms every call ends as what was done to it explains",
      ],
    ],
  },
  {
    id: "D-I3",
    about: "jitter lost at the cap",
    shownBy: [
      [
        "packages/client/src/core/reconnect.test.ts",
        "1,000 apps spread their tries over the whole window, at the 30 s cap too",
      ],
    ],
  },
  {
    id: "D-I4",
    about: "an answer that is too large, sent again for ever",
    shownBy: [
      [
        "packages/client/src/calls.test.ts",
        "a result over the limit is never sent: the model hears why, the connection stays",
      ],
    ],
  },
  {
    id: "D-I5",
    about: "frames dropped without a word when an app does not read",
    shownBy: [
      [
        SIZES,
        "an app that does not read is dropped once 1 MiB waits for it; its calls end at once",
      ],
    ],
  },
  {
    id: "D-I6",
    about: "floods of small frames",
    shownBy: [
      [APPS, "50,000 small frames at once take no memory worth naming, and delay nobody else"],
    ],
  },
  {
    id: "D-I7",
    about: "two copies of an app that evict each other",
    shownBy: [
      [
        "test/client/against-relay.test.ts",
        "4001: two copies of an app on one link slow down and never spin",
      ],
    ],
  },
  {
    id: "D-I8",
    about: "a size limit that one path forgets",
    shownBy: [
      [SIZES, "a frame of one byte more ends the connection without a close frame"],
      [
        "test/probes/websocket-framing.test.ts",
        "a frame that claims more than 256 KiB is dropped from its header alone, up to 2^64 - 1",
      ],
    ],
  },
  {
    id: "D-J1",
    about: "tokens in logs",
    shownBy: [
      [
        "test/e2e/log-secrets.test.ts",
        "a busy run at level debug leaves no token, argument, result or manifest in the log, and no token in the folder",
      ],
    ],
  },
  {
    id: "D-J2",
    about: "rebinding, and a forged Host or Origin",
    shownBy: [
      [METHODS, "on loopback a Host that is neither loopback's nor a public URL's gets 421"],
      [
        REFUSALS,
        "an Origin passes if it is https, or http on loopback while Relay itself is on http",
      ],
      [
        "test/probes/http-framing.test.ts",
        "two Host headers get 400: a guard that looks at one could be led past by the other",
      ],
    ],
  },
  {
    id: "D-J3",
    about: "requests forged from other pages",
    shownBy: [
      [
        "test/e2e/accounts-guard.test.ts",
        "every address under /api that changes something refuses a foreign Origin, and none at all",
      ],
      [
        "test/e2e/accounts-guard.test.ts",
        "under https cookies are this host's alone, and browsers are told to stay with https",
      ],
    ],
  },
  {
    id: "D-J4",
    about: "a tool that is run twice",
    shownBy: [
      [
        "test/e2e/socket-takeover.test.ts",
        "calls in flight on the older socket end as disconnected and are not counted",
      ],
    ],
  },
  {
    id: "D-J5",
    about: "the same payment twice, or forged",
    notShown: "events of a payment provider are not taken yet, so there is nothing to forge",
    shownBy: [
      [
        "test/e2e/money-rest.test.ts",
        "a replayed source key credits once and says so; another use of it is refused",
      ],
    ],
  },
  {
    id: "D-K1",
    about: "a device with a wrong clock",
    shownBy: [
      [
        "packages/client/src/calls.test.ts",
        "the deadline is the device's own, however wrong its clock",
      ],
    ],
  },
  {
    id: "D-K2",
    about: "a store that stalls",
    shownBy: [
      [
        "test/faults/hanging-store.test.ts",
        "while the store hangs for 5 s calls are answered, changes are refused, and afterwards each row is there once",
      ],
      [
        "test/faults/disk.test.ts",
        "with a full disk calls are answered, changes are refused, and with room again nothing is missing",
      ],
    ],
  },
];
