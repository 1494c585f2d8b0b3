import { readFileSync } from "node:fs";
import { LazyAccounts } from "../accounts/lazy-accounts.ts";
import { SmtpMail } from "../accounts/mail.ts";
import { ScryptPasswords } from "../accounts/passwords.ts";
import { SetUp } from "../accounts/set-up.ts";
import type { People } from "../api/accounts-people.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Log } from "../observe/log.ts";
import type { PublicUrls } from "../public-urls.ts";
import type { Store } from "../store/store.ts";
import { authKey } from "./secrets.ts";

type PeopleDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly urls: PublicUrls;
};

/** Puts the people's parts together; makes the first user where the configuration names one. */
export async function openPeople(config: Config, deps: PeopleDeps): Promise<People> {
  const { dataDir, accounts: settings } = config;
  const { store, clock, log, urls } = deps;
  const mail =
    settings.smtp === null ? null : new SmtpMail(settings.smtp.url, settings.smtp.from, log);
  const accounts = new LazyAccounts({
    dataDir,
    publicUrl: urls.public,
    signUp: settings.signUp,
    authKey: authKey(config),
    github: settings.github,
    mail,
    passwords: new ScryptPasswords(),
    store: store.accounts,
    clock,
    log,
  });
  const publicUrl = urls.public;
  const setUp = new SetUp({ dataDir, publicUrl, store: store.accounts, accounts, clock });
  try {
    await setUp.recover();
    await makeFirstUser(config, setUp, log);
  } catch (error) {
    await accounts.close();
    throw error;
  }
  return { accounts, setUp, mail };
}

async function makeFirstUser({ accounts }: Config, setUp: SetUp, log: Log): Promise<void> {
  const { admin } = accounts;
  if (admin === null || !(await setUp.isNeeded())) return;
  const { email, passwordFile } = admin;
  const made = await setUp.make({ name: "Operator", email, password: readPassword(passwordFile) });
  if (made !== "gone") log.info({}, "the first user was made as configured");
}

/** Never quotes what is in the file. */
function readPassword(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`RELAY_ADMIN_PASSWORD_FILE can't be read: ${why}`, { cause: error });
  }
  const password = text.replace(/\r?\n$/, "");
  if (password.length >= 10 && password.length <= 128) return password;
  throw new Error(
    `RELAY_ADMIN_PASSWORD_FILE must hold a password of 10 to 128 characters; ${file} holds ${password.length}`,
  );
}
