/** A file as somebody is changing it. */
export interface Draft {
  readonly text: string
  /** Of the file it began with. */
  readonly version: string
}

/** They outlive a look at another page, though not a reload. */
const drafts = new Map<string, Draft>()

export function readDraft(name: string): Draft | undefined {
  return drafts.get(name)
}

export function keepDraft(name: string, draft: Draft): void {
  if (drafts.size === 0) addEventListener('beforeunload', warn)
  drafts.set(name, draft)
}

export function dropDraft(name: string): void {
  drafts.delete(name)
  if (drafts.size === 0) removeEventListener('beforeunload', warn)
}

/** The browser asks whether to leave. */
function warn(event: BeforeUnloadEvent): void {
  event.preventDefault()
}
