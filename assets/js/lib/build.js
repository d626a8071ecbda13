// The folder's name is the build's fingerprint: what is asked with it may be kept for ever.

export const BUILD = new URL("..", import.meta.url).pathname.split("/").at(-2);
