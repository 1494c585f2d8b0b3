const WORDS: Readonly<Record<string, string>> = {
  access_denied: "GitHub was told not to go on, so nothing was done.",
  signup_disabled:
    "Nobody here has joined this GitHub account. Sign in another way, then join it on the page of your account.",
  account_not_linked:
    "Somebody here has the e-mail address of this GitHub account. Sign in another way, then join GitHub on the page of your account.",
  account_already_linked_to_different_user: "This GitHub account is joined to somebody else here.",
  email_does_not_match:
    "The GitHub account has another e-mail address than you have here, so it was not joined.",
  USER_DISABLED: "The operator has disabled this user.",
};

/** What went wrong on the way by GitHub or by a letter, by the code that the address has of it. */
export function githubWords(code: string): string {
  // What an object inherits is nobody's code.
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  return words ?? "That did not work, or it took too long. Begin again.";
}
