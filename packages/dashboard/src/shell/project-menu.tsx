import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { projectsQuery } from "../api/project-queries.ts";
import { Menu } from "../ui/menu.tsx";
import type { MenuEntry } from "../ui/menu.tsx";
import { MENU_BUTTON } from "./menu-button.ts";

/** Says which project is looked at, and leads to the others. */
export default function ProjectMenu({ projectId }: { readonly projectId: string | null }) {
  const navigate = useNavigate();
  const projects = useQuery(projectsQuery).data?.items ?? [];
  const here = projects.find((project) => project.projectId === projectId);
  const entries: readonly MenuEntry[] = [
    ...projects.map((project): MenuEntry => ({
      type: "item",
      key: project.projectId,
      label: <span dir="auto">{project.name}</span>,
      marked: project.projectId === projectId,
      onPick: () =>
        void navigate({
          to: "/projects/$projectId/start",
          params: { projectId: project.projectId },
        }),
    })),
    ...(projects.length === 0 ? [] : [{ type: "line" } as const]),
    {
      type: "item",
      key: "all",
      label: "All projects and a new one",
      onPick: () => void navigate({ to: "/projects" }),
    },
  ];
  return (
    <Menu
      entries={entries}
      trigger={
        <button type="button" className={MENU_BUTTON}>
          <span className="min-w-0">
            <span className="block text-xs text-quiet">Project</span>
            <span dir="auto" className="block truncate font-medium">
              {here?.name ?? "Choose one"}
            </span>
          </span>
          <span aria-hidden className="text-quiet">
            ⌄
          </span>
        </button>
      }
    />
  );
}
