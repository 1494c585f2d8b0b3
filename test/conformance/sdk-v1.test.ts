import { promisesTo, promisesToSdk } from "./host-promises.ts";
import type { Host } from "./host-promises.ts";
import { openSdkV1, sdkV1Http } from "./sdk-v1.ts";

const SDK_V1: Host = {
  open: (mcpUrl) => openSdkV1(sdkV1Http(mcpUrl)),
  clientName: /^sdk-v1-test$/,
  showsProgress: true,
};

promisesTo("SDK v1", SDK_V1);
promisesToSdk("SDK v1", SDK_V1, "legacy");
