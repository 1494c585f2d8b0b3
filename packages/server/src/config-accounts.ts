/** A setting of accounts: its variable, what kind of value, the value if none is set, what it is for. */
type AccountSetting = readonly [
  env: string,
  kind: "text" | "secret" | "choice" | "path",
  fallback: string,
  doc: string,
  more?: { readonly choices: readonly string[] },
];

/** The settings of the dashboard's people; `config.ts` makes them part of its table. */
export const ACCOUNT_SETTINGS: readonly AccountSetting[] = [
  [
    "RELAY_SIGN_UP",
    "choice",
    "invited",
    "Who may make a user for the dashboard: `invited` whoever has an invitation, `open` anybody.",
    { choices: ["invited", "open"] },
  ],
  [
    "RELAY_ADMIN_EMAIL",
    "text",
    "",
    "The e-mail address of the first user, who is made at the first start with the password in RELAY_ADMIN_PASSWORD_FILE; without it a link on the output makes the first user.",
  ],
  [
    "RELAY_ADMIN_PASSWORD_FILE",
    "path",
    "",
    "The file that holds the first user's password, 10 to 128 characters; read at the first start alone.",
  ],
  [
    "RELAY_AUTH_KEY",
    "secret",
    "",
    "32 bytes in hex that sign the dashboard's cookies and seal second factors; kept in the data folder if not set.",
  ],
  [
    "RELAY_SMTP_URL",
    "secret",
    "",
    "The mail server, such as smtps://user:password@mail.example.com; without it Relay sends no mail, and links are passed on by hand.",
  ],
  ["RELAY_MAIL_FROM", "text", "", "The sender of Relay's mail, such as relay@example.com."],
  [
    "RELAY_GITHUB_CLIENT_ID",
    "text",
    "",
    "The client id of a GitHub OAuth app; its callback address is /api/auth/callback/github under the public URL.",
  ],
  ["RELAY_GITHUB_CLIENT_SECRET", "secret", "", "The client secret of that GitHub OAuth app."],
];

export type AccountsConfig = {
  readonly signUp: "open" | "invited";
  readonly admin: { readonly email: string; readonly passwordFile: string } | null;
  readonly authKey: string | null;
  readonly smtp: { readonly url: string; readonly from: string } | null;
  readonly github: { readonly clientId: string; readonly clientSecret: string } | null;
};

/** Reads the accounts' part of the configuration; values that were checked come in by their key. */
export function accountsConfig(text: (key: string) => string): AccountsConfig {
  const both = (one: string, other: string): boolean => text(one) !== "" && text(other) !== "";
  return {
    signUp: text("signUp") === "open" ? "open" : "invited",
    admin: both("adminEmail", "adminPasswordFile")
      ? { email: text("adminEmail"), passwordFile: text("adminPasswordFile") }
      : null,
    authKey: text("authKey").toLowerCase() || null,
    smtp: both("smtpUrl", "mailFrom") ? { url: text("smtpUrl"), from: text("mailFrom") } : null,
    github: both("githubClientId", "githubClientSecret")
      ? { clientId: text("githubClientId"), clientSecret: text("githubClientSecret") }
      : null,
  };
}

const PAIRS = [
  ["RELAY_ADMIN_EMAIL", "adminEmail", "RELAY_ADMIN_PASSWORD_FILE", "adminPasswordFile"],
  ["RELAY_SMTP_URL", "smtpUrl", "RELAY_MAIL_FROM", "mailFrom"],
  ["RELAY_GITHUB_CLIENT_ID", "githubClientId", "RELAY_GITHUB_CLIENT_SECRET", "githubClientSecret"],
] as const;

/** What is wrong with the accounts' settings together or by their own rules. */
export function accountFaults(text: (key: string) => string): string[] {
  const halves = PAIRS.flatMap(([one, oneKey, other, otherKey]) => {
    if (text(oneKey) !== "" && text(otherKey) === "") return [`${one} needs ${other} as well`];
    return text(oneKey) === "" && text(otherKey) !== "" ? [`${other} needs ${one} as well`] : [];
  });
  const addresses = [
    ["RELAY_ADMIN_EMAIL", text("adminEmail")],
    ["RELAY_MAIL_FROM", text("mailFrom")],
  ].flatMap(([env, value = ""]) =>
    value === "" || /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+$/.test(value)
      ? []
      : [`${env} must be an e-mail address, not ${JSON.stringify(value)}`],
  );
  return [...halves, ...addresses];
}

/** What is wrong with a secret of the accounts; undefined for one of another part. */
export function brokenAccountSecret(env: string, value: string): string | null | undefined {
  switch (env) {
    case "RELAY_AUTH_KEY":
      return /^[0-9a-fA-F]{64}$/.test(value) ? null : "must be 64 hexadecimal digits";
    case "RELAY_SMTP_URL":
      return /^smtps?:$/.test(URL.canParse(value) ? new URL(value).protocol : "")
        ? null
        : "must be an smtp:// or smtps:// URL";
    case "RELAY_GITHUB_CLIENT_SECRET":
      return /^[\x21-\x7e]{1,200}$/.test(value) ? null : "must be one word";
    default:
      return undefined;
  }
}
