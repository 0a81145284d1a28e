/** The address at which a file is edited, at a line of it. */
export function toEditorHref(file: string, line?: number): string {
  const query = new URLSearchParams({ view: 'files', file })
  if (line !== undefined) query.set('line', `${line}`)
  return `/limits?${query}`
}
