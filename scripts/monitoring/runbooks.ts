const repository = 'https://github.com/portcullis/portcullis/blob/main'

/** The address of the runbook of an alert. Without an alert: of the page with all runbooks of the server. */
export function toRunbookUrl(server: string, alert?: string): string {
  const page = `${repository}/docs/runbooks/${server}.md`
  return alert === undefined ? page : `${page}#${alert.toLowerCase()}`
}
