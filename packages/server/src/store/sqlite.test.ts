import { storeContract } from "./store.contract.ts";
import { openHarness } from "./fixtures/sqlite-harness.ts";

storeContract("the SQLite store", openHarness);
