type Attributes = Readonly<Record<string, string>>;

/** Makes an element. Texts become text nodes, never markup. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Makes a button that calls back unless it is off. */
export function makeButton(kind: string, onPress: () => void): HTMLButtonElement {
  const button = make("button", { type: "button", part: `button ${kind}`, class: kind });
  button.addEventListener("click", () => {
    if (!isOff(button)) onPress();
  });
  return button;
}

/** Switches a button off without taking the focus from it, as `disabled` would. */
export function setOff(button: HTMLButtonElement, off: boolean): void {
  if (off) button.setAttribute("aria-disabled", "true");
  else button.removeAttribute("aria-disabled");
}

function isOff(button: HTMLButtonElement): boolean {
  return button.getAttribute("aria-disabled") === "true";
}

/** Sets a text if it is another: a live region must not say again what stays. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** A heading whose level the page chooses. */
export function makeHeading(id: string): HTMLElement {
  return make("div", { role: "heading", id, part: "heading", class: "heading" });
}
