/** The people's database in the data folder: users, passwords, sessions. */
export const AUTH_DATABASE_FILE = "auth.db";
