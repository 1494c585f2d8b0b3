import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { powerWakeUps, safeStorageStore } from "./electron.ts";
import { fileStore } from "./file-store.ts";
import type { LinkRecord, LinkStore } from "./link-store.ts";
import { localStore } from "./local-store.ts";
import { appStateWakeUps, secureStore } from "./react-native.ts";

const RECORD: LinkRecord = {
  linkId: "0199c4e2-5b7a-7d31-8f2e-6a1c9b3d4e57",
  linkToken: "lt_3Vd9xZr2Lm8Tn4Bw6Yc1Hs7Pf5Gj0A2U",
  mcpUrl: "https://relay.test/v1/mcp/ut_8Hq3Lm2Vx7Tc9Rb4Nw1Ks6Jd5Yf0Pg2E",
};
const OTHER: LinkRecord = { ...RECORD, mcpUrl: "https://relay.test/v1/mcp/ut_other" };

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "relay-store-"));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

/** A browser's storage, and the event that other tabs get. */
function fakePage(t: TestContext): {
  readonly items: Map<string, string>;
  readonly tell: (key: string) => void;
} {
  const items = new Map<string, string>();
  const target = new EventTarget();
  const globals = {
    localStorage: {
      getItem: (key: string) => items.get(key) ?? null,
      setItem: (key: string, value: string) => items.set(key, value),
    },
    addEventListener: target.addEventListener.bind(target),
  };
  const before = Object.getOwnPropertyDescriptors(globalThis);
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    t.after(() => {
      const old = before[name as keyof typeof before];
      if (old === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, old);
    });
  }
  const tell = (key: string): void => {
    target.dispatchEvent(Object.assign(new Event("storage"), { key }));
  };
  return { items, tell };
}

/** Encrypts as Electron does: to bytes, and only where there is a key store. */
function fakeSafeStorage(isAvailable = true) {
  return {
    isEncryptionAvailable: () => isAvailable,
    encryptString: (text: string) => Buffer.from(text).map((byte) => byte ^ 0x55),
    decryptString: (bytes: Uint8Array) => Buffer.from(bytes.map((byte) => byte ^ 0x55)).toString(),
  };
}

function fakeKeyStore() {
  const items = new Map<string, string>();
  return {
    getItemAsync: (key: string) => Promise.resolve(items.get(key) ?? null),
    setItemAsync: (key: string, value: string) => {
      items.set(key, value);
      return Promise.resolve();
    },
  };
}

const STORES: Readonly<Record<string, (t: TestContext) => LinkStore | Promise<LinkStore>>> = {
  localStore: (t) => {
    fakePage(t);
    return localStore();
  },
  fileStore: async (t) => fileStore(join(await folder(t), "deep", "link.json")),
  safeStorageStore: async (t) =>
    safeStorageStore(fakeSafeStorage(), join(await folder(t), "link.bin")),
  secureStore: () => secureStore(fakeKeyStore()),
};

for (const [name, open] of Object.entries(STORES)) {
  test(`${name}: nothing is null, what was saved last is there`, async (t) => {
    const store = await open(t);
    assert.equal(await store.load(), null);
    await store.save(RECORD);
    assert.deepEqual(await store.load(), RECORD);
    await store.save(OTHER);
    assert.deepEqual(await store.load(), OTHER);
  });

  test(`${name}: add keeps what is there already`, async (t) => {
    const store = await open(t);
    if (store.add === undefined) return t.skip("no other copy of the app shares this store");
    assert.deepEqual(await store.add(RECORD), RECORD);
    assert.deepEqual(await store.add(OTHER), RECORD);
    assert.deepEqual(await store.load(), RECORD);
  });
}

test("fileStore: the file is its owner's alone, and nothing is left beside it", async (t) => {
  const path = await folder(t);
  const store = fileStore(join(path, "link.json"));
  await store.add?.(RECORD);
  await store.add?.(OTHER);
  await store.save(OTHER);
  assert.deepEqual(await readdir(path), ["link.json"]);
  assert.equal((await stat(join(path, "link.json"))).mode & 0o777, 0o600);
});

test("fileStore: processes that add at once agree on one link", async (t) => {
  const path = join(await folder(t), "link.json");
  const records = Array.from({ length: 20 }, (_, index) => ({ ...RECORD, linkId: `${index}` }));
  const kept = await Promise.all(records.map(async (record) => fileStore(path).add?.(record)));
  const one = await fileStore(path).load();
  for (const record of kept) assert.deepEqual(record, one);
});

for (const [what, text] of [
  ["cut short", '{"linkId":"0199","linkTo'],
  ["empty", ""],
  ["something else", '{"theme":"dark"}'],
  ["null", "null"],
] as const) {
  test(`fileStore: a file that is ${what} is an error, not an empty store`, async (t) => {
    const path = join(await folder(t), "link.json");
    await writeFile(path, text);
    await assert.rejects(async () => fileStore(path).load());
    assert.equal(await readFile(path, "utf8"), text);
  });
}

test("fileStore: a place that can't be read is an error, not an empty store", async (t) => {
  const path = await folder(t);
  await assert.rejects(async () => fileStore(path).load(), { code: "EISDIR" });
});

test("localStore: another tab's change of the same key is told, until that is ended", (t) => {
  const { tell } = fakePage(t);
  let told = 0;
  const end = localStore("notes").watch?.(() => {
    told += 1;
  });
  tell("notes");
  tell("theme");
  assert.equal(told, 1);
  end?.();
  tell("notes");
  assert.equal(told, 1);
});

test("localStore: tabs that share a key share a name", () => {
  assert.equal(localStore().name, "relay");
  assert.equal(localStore("notes").name, "notes");
});

test("safeStorageStore: what is on the disk is encrypted, and never there without a key store", async (t) => {
  const path = await folder(t);
  await safeStorageStore(fakeSafeStorage(), join(path, "link.bin")).save(RECORD);
  assert.doesNotMatch(await readFile(join(path, "link.bin"), "latin1"), /lt_|ut_/);
  const without = safeStorageStore(fakeSafeStorage(false), join(path, "other.bin"));
  await assert.rejects(async () => without.save(RECORD), { code: "STORE" });
  for (const name of await readdir(path)) {
    assert.doesNotMatch(await readFile(join(path, name), "latin1"), /lt_|ut_/);
  }
});

test("powerWakeUps and appStateWakeUps wake the app, until they are ended", () => {
  let wakes = 0;
  const wake = (): void => {
    wakes += 1;
  };
  const heard = new Map<string, () => void>();
  const endPower = powerWakeUps({
    on: (event, listener) => heard.set(event, listener),
    removeListener: (event) => heard.delete(event),
  })(wake);
  heard.get("resume")?.();
  endPower();
  assert.equal(heard.size, 0);
  let tell: ((state: string) => void) | null = null;
  const endState = appStateWakeUps({
    addEventListener: (_, listener) => {
      tell = listener;
      return {
        remove: () => {
          tell = null;
        },
      };
    },
  })(wake);
  for (const state of ["background", "inactive", "active"]) {
    (tell as ((state: string) => void) | null)?.(state);
  }
  endState();
  assert.equal(tell, null);
  assert.equal(wakes, 2);
});
