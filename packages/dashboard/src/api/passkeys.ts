import { request } from "./client.ts";

export type Passkey = {
  readonly id: string;
  readonly name?: string | null;
  readonly createdAt?: string | null;
};

/** Whether this browser can make and use passkeys. */
export function canUsePasskeys(): boolean {
  return (
    typeof PublicKeyCredential === "function" &&
    typeof PublicKeyCredential.parseCreationOptionsFromJSON === "function"
  );
}

/** Signs in with a passkey of this device. Throws if the person closes the browser's question. */
export async function signInWithPasskey(): Promise<void> {
  const options = await request<PublicKeyCredentialRequestOptionsJSON>(
    "GET",
    "auth/passkey/generate-authenticate-options",
  );
  const credential = await navigator.credentials.get({
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
  });
  await request("POST", "auth/passkey/verify-authentication", { response: jsonOf(credential) });
}

/** Makes a passkey on this device and adds it to the signed-in person's. */
export async function addPasskey(name: string): Promise<void> {
  const options = await request<PublicKeyCredentialCreationOptionsJSON>(
    "GET",
    "auth/passkey/generate-register-options",
  );
  const credential = await navigator.credentials.create({
    publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
  });
  await request("POST", "auth/passkey/verify-registration", {
    response: jsonOf(credential),
    name,
  });
}

function jsonOf(credential: Credential | null): unknown {
  if (!(credential instanceof PublicKeyCredential)) {
    throw new Error("The browser did not give a passkey");
  }
  return credential.toJSON();
}
