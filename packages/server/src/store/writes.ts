import { recordCall } from "./call-writes.ts";
import {
  claimLink,
  createLink,
  forgetSealedUrl,
  releaseLink,
  releaseSome,
  revokeLink,
  rotateLink,
  setLinkLabel,
  setLinkPaused,
  writeClients,
} from "./link-writes.ts";
import { bookCredit, openMonth, startBilling } from "./money-writes.ts";
import {
  changeProject,
  createAccount,
  createKey,
  createProject,
  revokeKey,
  writeKeyUses,
} from "./project-writes.ts";
import { deleteProject, purgeStep } from "./project-removal.ts";
import { recordAudit } from "./audit-log.ts";
import { acceptInvitation, countSignUp, invite, revokeInvitation } from "./invitation-writes.ts";
import { ensureOwnAccount, removeMember, setAccountName, setRole } from "./member-writes.ts";
import { claimSetUp, completeSetUp, releaseSetUp } from "./set-up-writes.ts";
import { sweepStep } from "./sweep.ts";
import { addEvent, noteAttempt, setWebhook } from "./webhook-writes.ts";
import type { WriteContext } from "./write-context.ts";

function writeProbe({ db }: WriteContext): void {
  db.run("UPDATE probes SET at = at + 1 WHERE only = 1");
}

const WRITES = {
  createAccount,
  createProject,
  changeProject,
  deleteProject,
  purgeStep,
  createKey,
  revokeKey,
  writeKeyUses,
  createLink,
  claimLink,
  releaseLink,
  releaseSome,
  rotateLink,
  forgetSealedUrl,
  setLinkPaused,
  setLinkLabel,
  revokeLink,
  writeClients,
  recordCall,
  startBilling,
  openMonth,
  bookCredit,
  setWebhook,
  addEvent,
  noteAttempt,
  ensureOwnAccount,
  setAccountName,
  setRole,
  removeMember,
  invite,
  countSignUp,
  acceptInvitation,
  revokeInvitation,
  claimSetUp,
  releaseSetUp,
  completeSetUp,
  recordAudit,
  sweepStep,
  writeProbe,
} as const;

/** The name of a write, as it crosses to the writer thread. */
export type WriteVerb = keyof typeof WRITES;

export type WriteArgs = {
  [Verb in WriteVerb]: (typeof WRITES)[Verb] extends (
    context: WriteContext,
    ...args: infer Args
  ) => unknown
    ? Args
    : never;
};

export type WriteResult = { [Verb in WriteVerb]: ReturnType<(typeof WRITES)[Verb]> };

/** One write: a verb with its own arguments. */
export type Write<Verb extends WriteVerb = WriteVerb> = {
  readonly verb: Verb;
  readonly args: WriteArgs[Verb];
};

type WriteTable = {
  readonly [Verb in WriteVerb]: (
    context: WriteContext,
    ...args: WriteArgs[Verb]
  ) => WriteResult[Verb];
};

const TABLE: WriteTable = WRITES;

/** Performs one write; what it throws is SQLite's, and leaves the savepoint to be rolled back. */
export function performWrite<Verb extends WriteVerb>(
  context: WriteContext,
  write: Write<Verb>,
): WriteResult[Verb] {
  return TABLE[write.verb](context, ...write.args);
}
