import { useQueryClient } from "@tanstack/react-query";
import { useAction } from "../../api/action.tsx";
import type { Action } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import type { Project } from "../../api/shapes.ts";
import { say } from "../../ui/toast.tsx";

export type ProjectChange = Partial<
  Pick<Project, "name" | "callsPerMinute" | "allowedOrigins" | "stopped">
>;

/** Changes a project's settings and shows them everywhere. */
export function useProjectPatch(
  projectId: string,
  done: string,
  onDone?: () => void,
): Action<[ProjectChange]> {
  const client = useQueryClient();
  return useAction(
    (change: ProjectChange) => request<Project>("PATCH", `projects/${projectId}`, change),
    () => {
      say(done);
      void client.invalidateQueries({ queryKey: ["project", projectId] });
      void client.invalidateQueries({ queryKey: ["projects"] });
      onDone?.();
    },
  );
}
