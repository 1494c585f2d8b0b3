import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseToken } from "@relay/protocol";
import type { OperatorToken } from "@relay/protocol";
import type { Config } from "../config.ts";
import { mintToken } from "../ids.ts";

/** The operator's token: the configured one, else the one in the data folder, made if missing. */
export function operatorToken(config: Config): OperatorToken {
  const file = join(config.dataDir, "operator-token");
  const text = config.operatorToken ?? kept(config, file, () => mintToken("operatorToken"));
  const token = parseToken("operatorToken", text);
  if (token === null) throw new Error(`${file} does not hold an operator token`);
  return token;
}

/** The key that seals rotated URLs: 32 bytes, configured, or kept in the data folder. */
export function sealKey(config: Config): Buffer {
  const file = join(config.dataDir, "seal.key");
  const hex = config.sealKey ?? kept(config, file, () => randomBytes(32).toString("hex"));
  if (!/^[0-9a-f]{64}$/i.test(hex)) throw new Error(`${file} does not hold 64 hexadecimal digits`);
  return Buffer.from(hex, "hex");
}

/** The key that signs cookies and seals second factors: 64 hexadecimal digits. */
export function authKey(config: Config): string {
  const file = join(config.dataDir, "auth.key");
  const hex = config.accounts.authKey ?? kept(config, file, () => randomBytes(32).toString("hex"));
  if (!/^[0-9a-f]{64}$/.test(hex)) throw new Error(`${file} does not hold 64 hexadecimal digits`);
  return hex;
}

/** Reads a secret file of the data folder; makes it, for the owner's eyes only, if it is missing. */
function kept(config: Config, file: string, make: () => string): string {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  try {
    // Fails if the file is there, so that two processes never make two secrets.
    writeFileSync(file, `${make()}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "EEXIST") throw error;
  }
  return readFileSync(file, "utf8").trim();
}
