/** The look of the two buttons in the bar that open menus. */
export const MENU_BUTTON =
  "flex min-h-10 w-full min-w-0 items-center justify-between gap-2 rounded-md border border-line bg-surface px-3 py-1.5 text-left text-sm hover:bg-hover";
