// Asking our own server: what it refuses and what cannot be reached is one sentence.

/** The answer to this address, if the server gives one; raises what it says instead. */
export async function asked(address, signal) {
  const response = await fetch(address, { signal });
  if (response.ok) return response;
  throw new Error((await response.json().catch(() => null))?.error ?? `The server answered ${response.status}.`);
}

/** What to say of an error: fetch() raises a TypeError where there is no network. */
export const sentenceOf = (error) =>
  error instanceof TypeError ? "The server cannot be reached; the picture shown stays usable." : error.message;
