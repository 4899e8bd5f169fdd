/** binary returns the path of the program in the platform package that npm installed. */
export function binary(): string;
