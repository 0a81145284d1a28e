import type { ClientBase } from 'pg'
import type { Metadata } from '../features/users/metadata.ts'

/** An entry as it was written, or would have been. */
export interface AuditNotice {
  readonly id: string
  readonly payload: Metadata
  readonly ip: string
}

/** What happens to the audit entries that statements write. */
export interface AuditSettings {
  /** Whether they are in the table (AUTH_AUDIT_LOG_DISABLE_POSTGRES). */
  readonly isStored: boolean
  /** Hears of them when they are there to stay, in the context of whoever ran the statement. */
  readonly onWritten: (entries: readonly AuditNotice[]) => void
}

/** For the trigger of migration 0011. */
export function toAuditSession({ isStored }: AuditSettings): Readonly<Record<string, string>> {
  return { 'portcullis.audit': isStored ? 'tell' : 'instead' }
}

/** Keeps what PostgreSQL tells of entries until it is asked for. */
export class AuditNotices {
  readonly #heard = new WeakMap<ClientBase, AuditNotice[]>()

  /** Listens on a connection. */
  hear(client: ClientBase): void {
    client.on('notice', ({ code, detail }) => {
      if (code !== 'AUDIT' || detail === undefined) return
      const notice: AuditNotice = JSON.parse(detail)
      const heard = this.#heard.get(client)
      if (heard === undefined) this.#heard.set(client, [notice])
      else heard.push(notice)
    })
  }

  /** Those since the last time, on this connection. */
  take(client: ClientBase): readonly AuditNotice[] {
    const heard = this.#heard.get(client)
    if (heard === undefined) return []
    this.#heard.delete(client)
    return heard
  }
}
