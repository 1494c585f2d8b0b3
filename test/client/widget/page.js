// A settings page with the widget, whose relays are real clients of a Relay in memory.
import { createRelay, localStore, memoryStore, tool } from "@relay/client/browser";
import { FakeRelay } from "@relay/client/testing";
import { keepCalls } from "@relay/client/widget";

const APP = { name: "Notes", version: "1.4.2" };
const PUBLIC_URL = "https://api.example.com/relay";

const run = { description: "Searches", run: ({ text = "" }) => text };
const failing = {
  description: "Fails",
  run: () => {
    throw new Error("The notebook is locked.");
  },
};
const asking = { ...run, annotations: { destructiveHint: true } };
const hanging = { description: "Takes its time", run: () => new Promise(() => undefined) };

const tools = [
  tool("search_notes", run),
  tool("add_note", failing),
  tool("delete_note", asking),
  tool("export_all", hanging),
];

/** A client of a Relay in memory that is reached at `url`. */
function client(fake, options = {}) {
  const { url = PUBLIC_URL, ...others } = options;
  Object.assign(fake, { url });
  return createRelay({ ...fake.app(memoryStore()), app: APP, tools, ...others });
}

async function online(options) {
  const fake = new FakeRelay();
  const relay = client(fake, options);
  await relay.start();
  return { fake, relay };
}

async function closed(prepare, options) {
  const fake = new FakeRelay();
  prepare(fake);
  const relay = client(fake, options);
  await relay.start().catch(() => undefined);
  return { fake, relay };
}

async function withCalls(relay, link) {
  keepCalls(relay);
  await link.call("search_notes", { text: "tulips" });
  await link.call("add_note", {});
  await link.call("delete_note", {});
  void link.call("export_all", {});
  await link.call("search_notes", { text: "frost" });
}

const LONG = "Ein_sehr_langer_Werkzeugname_der_alle_vierundsechzig_Zeichen_hat";

/** How to come into each state that a person can see. */
const SCENES = {
  none: () => Promise.resolve({ fake: null, relay: null }),
  idle: () => {
    const fake = new FakeRelay();
    return Promise.resolve({ fake, relay: client(fake) });
  },
  connecting: () => {
    const fake = new FakeRelay();
    // A socket that nobody answers.
    const WebSocket = class {
      readyState = 0;
      send() {}
      close() {}
      addEventListener() {}
    };
    const relay = client(fake, { WebSocket });
    void relay.start();
    return new Promise((resolve) => {
      relay.on("url", () => resolve({ fake, relay }));
    });
  },
  online: () => online(),
  calls: async () => {
    const beforeRun = ({ tool: { annotations } }) => !annotations?.destructiveHint;
    const { fake, relay } = await online({ beforeRun });
    await withCalls(relay, fake.link);
    return { fake, relay };
  },
  paused: async () => {
    const { fake, relay } = await online();
    await relay.pause();
    return { fake, relay };
  },
  local: () => online({ url: "http://localhost:8787" }),
  network: () => online({ url: "http://192.168.1.20:8787" }),
  unencrypted: () => online({ url: "http://relay.example.com" }),
  waiting: async () => {
    const { fake, relay } = await online();
    fake.isDown = true;
    fake.drop();
    return { fake, relay };
  },
  suspended: async () => {
    const { fake, relay } = await online();
    fake.suspend();
    return { fake, relay };
  },
  unreachable: () => {
    const fake = new FakeRelay();
    fake.isDown = true;
    const relay = client(fake);
    void relay.start();
    return new Promise((resolve) => {
      relay.on("state", ({ status }) => status === "waiting" && resolve({ fake, relay }));
    });
  },
  standby: async () => {
    const fake = new FakeRelay();
    const name = `standby ${performance.now()}`;
    const first = client(fake, { store: localStore(name) });
    await first.start();
    const relay = client(fake, { store: localStore(name) });
    await relay.start();
    return { fake, relay };
  },
  revoked: async () => {
    const { fake, relay } = await online();
    fake.link.revoke();
    return { fake, relay };
  },
  unknown: () =>
    closed(() => undefined, {
      store: memoryStore({ linkToken: "lt_x", mcpUrl: `${PUBLIC_URL}/v1/mcp/ut_x`, linkId: "x" }),
    }),
  origin: () =>
    closed((fake) => {
      fake.isOriginAllowed = false;
    }),
  key: () => closed(() => undefined, { publishableKey: "pk_wrong" }),
  store: () =>
    closed(() => undefined, {
      store: {
        load: () => {
          throw new Error("the key store is locked");
        },
        save: () => undefined,
      },
    }),
  long: async () => {
    const { fake, relay } = await online({
      url: "https://relay.a-rather-long-subdomain.example-of-a-company.com/with/a/prefix",
      app: { name: "Donaudampfschifffahrtsgesellschaftskapitänskajütenschlüssel", version: "1" },
      tools: [tool(LONG, run), tool("x", failing)],
    });
    keepCalls(relay);
    await fake.link.call(LONG, {});
    await fake.link.call("x", {});
    return { fake, relay };
  },
};

// Where the tests reach them.
Object.assign(window, {
  scenes: Object.keys(SCENES),
  violations: [],
  /** Shows a scene in a new element. */
  show: async (name) => {
    window.relay?.stop();
    Object.assign(window, await SCENES[name]());
    const element = document.createElement("relay-connect");
    document.querySelector("relay-connect").replaceWith(element);
    element.relay = window.relay;
    Object.assign(window, { element });
  },
  makeRelay: (options) => client(new FakeRelay(), options),
});
document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
  window.violations.push(`${violatedDirective} ${blockedURI}`),
);
