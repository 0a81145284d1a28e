/** Returns the address of the editor for a file, optionally at a line. */
export function toEditorHref(file: string, line?: number): string {
  const query = new URLSearchParams({ view: 'files', file })
  if (line !== undefined) query.set('line', `${line}`)
  return `/limits?${query}`
}
