/** An entry of the auth server's audit log. */
export interface AuditEntry {
  readonly id: string
  readonly created_at: string
  readonly ip_address: string
  readonly payload: {
    readonly action: string
    readonly actor_id: string
    /** Of an administrator their role. */
    readonly actor_username: string
    readonly traits?: Readonly<Record<string, unknown>>
  }
}

/** An entry of the audit log, and whom it is about. */
export interface AuditEvent {
  readonly entry: AuditEntry
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly user: { readonly id: string; readonly name: string }
}

/** Of `GET /admin/audit`. What does not look like an entry is left out. */
export function parseAuditEntries(text: string): readonly AuditEvent[] {
  const entries: unknown = JSON.parse(text)
  if (!Array.isArray(entries)) throw new Error('The audit log of the auth server is no list.')
  return entries.filter(isEntry).map(toEvent)
}

function isEntry(value: unknown): value is AuditEntry {
  const { id, created_at, payload }: Partial<Record<keyof AuditEntry, unknown>> = Object(value)
  const { action, actor_id }: Partial<Record<keyof AuditEntry['payload'], unknown>> =
    Object(payload)
  return [id, created_at, action, actor_id].every((text) => typeof text === 'string')
}

/** Where an administrator did something to a user, the traits name the user. */
export function toEvent(entry: AuditEntry): AuditEvent {
  const { actor_id: actorId, actor_username: actorName, traits = {} } = entry.payload
  const { user_id: userId, user_email: email, user_phone: phone } = traits
  const isOther = isText(userId) && userId !== actorId
  const names = isOther ? [email, phone, userId] : [actorName, actorId]
  return {
    entry,
    at: Date.parse(entry.created_at),
    user: { id: isOther ? userId : actorId, name: names.find(isText) ?? '' },
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
