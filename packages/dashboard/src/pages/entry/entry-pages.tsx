/** The pages before the sign-in, one chunk for all of them. */
export { ForgotPasswordPage, ResetPasswordPage } from "./forgot-password.tsx";
export { InvitationPage } from "./invitation.tsx";
export { SetupPage } from "./setup.tsx";
export { SignInPage } from "./sign-in.tsx";
export { SignUpPage } from "./sign-up.tsx";
