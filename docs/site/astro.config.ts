import starlight from "@astrojs/starlight";
import { defineConfig, passthroughImageService } from "astro/config";

export default defineConfig({
  // The pages have no images to make smaller; the usual service would bring a native library.
  image: { service: passthroughImageService() },
  integrations: [
    starlight({
      title: "Relay",
      description: "Lets AI hosts call the tools of apps on people's own devices, over MCP.",
      customCss: ["./src/styles/relay.css"],
      credits: false,
      expressiveCode: { defaultProps: { frame: "none" } },
      sidebar: [
        {
          label: "Start",
          items: ["index", "quickstart", "how-it-works", "hosts"],
        },
        {
          label: "Build",
          items: [
            "client",
            "bridge",
            "socket-protocol",
            "links",
            "mcp-endpoint",
            "limits-and-errors",
            "rest-api",
            "billing",
          ],
        },
        {
          label: "Run",
          items: [
            "self-hosting/run",
            "self-hosting/proxy",
            "self-hosting/backup",
            "self-hosting/monitoring",
            "security",
          ],
        },
        {
          label: "Reference",
          items: [
            "reference/limits",
            "reference/outcomes",
            "reference/errors",
            "reference/close-codes",
            "reference/configuration",
            "reference/metrics",
          ],
        },
      ],
    }),
  ],
});
