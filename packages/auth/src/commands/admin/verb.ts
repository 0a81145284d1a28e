import type { CommandIo } from '@portcullis/service-kit/command'
import type { Services } from '../../services.ts'

/** What `auth admin` may be asked to do. */
export interface AdminVerb {
  /** What follows the name of the verb. */
  readonly synopsis: string
  /** One line. */
  readonly summary: string
  /** Positional arguments: at least and at most. */
  readonly takes: readonly [least: number, most: number]
  /** The options it knows, besides those of all. */
  readonly options: readonly AdminOption[]
  /** @throws {ApiError} with what keeps it from being done. */
  run(services: Services, input: AdminInput): Promise<void>
}

export type AdminOption = 'confirm' | 'admin' | 'soft' | 'json' | 'aud' | 'filter' | 'limit' | 'all'

export interface AdminInput {
  readonly positionals: readonly string[]
  readonly flags: ReadonlySet<AdminOption>
  readonly texts: ReadonlyMap<AdminOption, string>
  /** Whose users are meant. */
  readonly audience: string
  readonly io: CommandIo
}

/** Who did it, in the audit log: whoever may run commands on the server's machine. */
export const operator = 'auth admin'

export const operatorClient = { ip: '', userAgent: '' } as const
