import type { ClientBase } from 'pg'
import type { Metadata } from '../stored-json.ts'

/** An audit entry as it was written, or would have been written if entries were stored. */
export interface AuditNotice {
  readonly id: string
  readonly payload: Metadata
  readonly ip: string
}

/** How audit entries that statements write are handled. */
export interface AuditSettings {
  /** Whether entries are stored in the table (see AUTH_AUDIT_LOG_DISABLE_POSTGRES). */
  readonly isStored: boolean
  /**
   * Called after the entries are committed, in the async context of the caller of the statement.
   */
  readonly onWritten: (entries: readonly AuditNotice[]) => void
}

/** Settings for the trigger of migration 0011. */
export function toAuditSession({ isStored }: AuditSettings): Readonly<Record<string, string>> {
  return { 'portcullis.audit': isStored ? 'tell' : 'instead' }
}

/** Collects the audit notices that PostgreSQL sends, until they are taken. */
export class AuditNotices {
  readonly #received = new WeakMap<ClientBase, AuditNotice[]>()

  /** Subscribes to the notices of a connection. */
  subscribe(client: ClientBase): void {
    client.on('notice', ({ code, detail }) => {
      if (code !== 'AUDIT' || detail === undefined) return
      const notice: AuditNotice = JSON.parse(detail)
      const received = this.#received.get(client)
      if (received === undefined) this.#received.set(client, [notice])
      else received.push(notice)
    })
  }

  /** Returns the notices of this connection since the last call. */
  take(client: ClientBase): readonly AuditNotice[] {
    const received = this.#received.get(client)
    if (received === undefined) return []
    this.#received.delete(client)
    return received
  }
}
