/** The part of nodemailer that is used here; the package brings no types of its own. */
declare module "nodemailer" {
  export type Transport = {
    sendMail(message: {
      readonly from: string;
      readonly to: string;
      readonly subject: string;
      readonly text: string;
    }): Promise<unknown>;
    close(): void;
  };
  export function createTransport(options: {
    readonly url: string;
    readonly connectionTimeout: number;
    readonly greetingTimeout: number;
    readonly socketTimeout: number;
    readonly disableFileAccess: boolean;
    readonly disableUrlAccess: boolean;
  }): Transport;
}
