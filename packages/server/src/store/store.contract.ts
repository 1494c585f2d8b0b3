import { describe } from "node:test";
import { accountContract } from "./contract/account-contract.ts";
import { callContract } from "./contract/call-contract.ts";
import { claimContract } from "./contract/claim-contract.ts";
import type { OpenHarness } from "./contract/harness.ts";
import { dashboardContract } from "./contract/dashboard-contract.ts";
import { historyContract } from "./contract/history-contract.ts";
import { lifeContract } from "./contract/life-contract.ts";
import { linkContract } from "./contract/link-contract.ts";
import { linkListContract } from "./contract/link-list-contract.ts";
import { moneyContract } from "./contract/money-contract.ts";
import { projectContract } from "./contract/project-contract.ts";
import { removalContract } from "./contract/removal-contract.ts";
import { sweepContract } from "./contract/sweep-contract.ts";
import { webhookContract } from "./contract/webhook-contract.ts";

/** Registers the suite that every implementation of `Store` must pass; `open` gives an empty one. */
export function storeContract(name: string, open: OpenHarness): void {
  describe(`${name} keeps the store's contract`, () => {
    projectContract(open);
    accountContract(open);
    linkContract(open);
    claimContract(open);
    historyContract(open);
    linkListContract(open);
    callContract(open);
    moneyContract(open);
    webhookContract(open);
    sweepContract(open);
    removalContract(open);
    dashboardContract(open);
    lifeContract(open);
  });
}
