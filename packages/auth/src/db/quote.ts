/** Names with double quotes around them, as SQL has them: `"auth"."users"`. */
export function quote(...names: readonly string[]): string {
  return names.map((name) => `"${name.replaceAll('"', '""')}"`).join('.')
}
