const repository = 'https://github.com/portcullis/portcullis/blob/main'

/** The address of the page of runbooks of a server, or of one runbook on it. */
export function toRunbookUrl(server: string, alert?: string): string {
  const page = `${repository}/docs/runbooks/${server}.md`
  return alert === undefined ? page : `${page}#${alert.toLowerCase()}`
}
