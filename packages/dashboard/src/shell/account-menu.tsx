import { useQueryClient } from "@tanstack/react-query";
import type { QueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAction } from "../api/action.tsx";
import { featuresQuery, signOut, useFeatures, useMe } from "../api/session.ts";
import { Menu } from "../ui/menu.tsx";
import { say } from "../ui/toast.tsx";
import { MENU_BUTTON } from "./menu-button.ts";
import { THEMES, chooseTheme, chosenTheme } from "./theme.ts";
import type { Theme } from "./theme.ts";

const THEME_WORDS: Readonly<Record<Theme, string>> = {
  system: "Light or dark as the device",
  light: "Light",
  dark: "Dark",
};

/** Who is signed in; the look; the way out. */
export default function AccountMenu() {
  const me = useMe();
  const features = useFeatures();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [theme, setTheme] = useState(chosenTheme);
  const leave = useAction(signOut, () => {
    void forget(client).then(() => navigate({ to: "/sign-in" }));
  });
  if (leave.failure !== null) {
    say(leave.failure.message);
    leave.reset();
  }
  if (me === null) return null;
  return (
    <Menu
      side="top"
      entries={[
        {
          type: "note",
          key: "who",
          content: <span className="block text-xs break-all text-quiet">{me.user.email}</span>,
        },
        {
          type: "item",
          key: "account",
          label: "Password, passkeys, sessions",
          onPick: () => void navigate({ to: "/account" }),
        },
        { type: "line" },
        ...THEMES.map((name) => ({
          type: "item" as const,
          key: name,
          label: THEME_WORDS[name],
          marked: name === theme,
          onPick: () => {
            chooseTheme(name);
            setTheme(name);
          },
        })),
        { type: "line" },
        { type: "item", key: "out", label: "Sign out", onPick: () => leave.run() },
        {
          type: "note",
          key: "version",
          content: <span className="block text-xs text-quiet">Relay {features?.version}</span>,
        },
      ]}
      trigger={
        <button type="button" className={MENU_BUTTON}>
          <span dir="auto" className="truncate">
            {me.user.name}
          </span>
          <span aria-hidden className="text-quiet">
            ⌃
          </span>
        </button>
      }
    />
  );
}

/** Lets go of all that the person has seen; what is on its way is not to arrive any more. */
async function forget(client: QueryClient): Promise<void> {
  await client.cancelQueries();
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== featuresQuery.queryKey[0] });
}
