import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";

const PRESENT = 0x01;
const VERIFIED = 0x04;
const ATTESTED = 0x40;

/** What a page would do wrong on purpose. */
export type Ceremony = {
  readonly challenge: string;
  readonly origin?: string;
  /** Whether the authenticator checked who uses it, by finger or PIN. */
  readonly verified?: boolean;
};

/** A security key in software, for one site (WebAuthn level 2, ES256, no attestation). */
export class Authenticator {
  readonly #rpId: string;
  readonly #key: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly #id = randomBytes(32);
  #counter = 0;

  constructor(rpId: string) {
    this.#rpId = rpId;
    this.#key = generateKeyPairSync("ec", { namedCurve: "P-256" });
  }

  create(ceremony: Ceremony): object {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.#id.length);
    const data = Buffer.concat([
      this.#head(ceremony, ATTESTED),
      Buffer.alloc(16),
      length,
      this.#id,
      this.#coseKey(),
    ]);
    const size = Buffer.alloc(2);
    size.writeUInt16BE(data.length);
    // CBOR: { "fmt": "none", "attStmt": {}, "authData": data }.
    const attestation = Buffer.concat([
      Buffer.from([0xa3, 0x63]),
      Buffer.from("fmt"),
      Buffer.from([0x64]),
      Buffer.from("none"),
      Buffer.from([0x67]),
      Buffer.from("attStmt"),
      Buffer.from([0xa0, 0x68]),
      Buffer.from("authData"),
      Buffer.from([0x59]),
      size,
      data,
    ]);
    return this.#credential({
      clientDataJSON: clientData("webauthn.create", ceremony).toString("base64url"),
      attestationObject: attestation.toString("base64url"),
      transports: ["internal"],
    });
  }

  get(ceremony: Ceremony): object {
    const data = this.#head(ceremony, 0);
    const client = clientData("webauthn.get", ceremony);
    const signed = Buffer.concat([data, createHash("sha256").update(client).digest()]);
    return this.#credential({
      clientDataJSON: client.toString("base64url"),
      authenticatorData: data.toString("base64url"),
      signature: sign("sha256", signed, this.#key.privateKey).toString("base64url"),
    });
  }

  #credential(response: object): object {
    const id = this.#id.toString("base64url");
    return { id, rawId: id, type: "public-key", clientExtensionResults: {}, response };
  }

  #head({ verified = true }: Ceremony, more: number): Buffer {
    this.#counter += 1;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.#counter);
    const flags = PRESENT | (verified ? VERIFIED : 0) | more;
    const site = createHash("sha256").update(this.#rpId).digest();
    return Buffer.concat([site, Buffer.from([flags]), counter]);
  }

  /** CBOR: { 1: 2, 3: -7, -1: 1, -2: x, -3: y }. */
  #coseKey(): Buffer {
    const { x = "", y = "" } = this.#key.publicKey.export({ format: "jwk" });
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
      Buffer.from(x, "base64url"),
      Buffer.from([0x22, 0x58, 0x20]),
      Buffer.from(y, "base64url"),
    ]);
  }
}

function clientData(type: string, { challenge, origin = "https://relay.example.com" }: Ceremony) {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
}
