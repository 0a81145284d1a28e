import { parseConnectionUrl } from '../../db/connection/connection-url.ts'
import { ImportError } from '../import-error.ts'

export interface SourceUrl {
  /** The URL of the database, without the schema. */
  readonly url: string
  readonly schema: string
  /** Host, database and schema for messages, without the password. */
  readonly label: string
  /** The option that contains the URL, for messages. */
  readonly option: string
}

/**
 * Parses `postgres://…/db?schema=auth`. URLs of Supabase Auth name the schema `search_path`.
 * @throws {ImportError}
 */
export function parseSourceUrl(text: string, option = '--from'): SourceUrl {
  const [base = '', query = ''] = text.split('?', 2)
  const parameters = query.split('&').filter((pair) => pair !== '')
  const isSchema = (pair: string) => /^(?:schema|search_path)=/.test(pair)
  const named = parameters.find(isSchema)
  const [first = ''] = decodeURIComponent(named?.replace(/^[^=]*=/, '') ?? '').split(',')
  const schema = first.trim() || 'auth'
  const others = parameters.filter((pair) => !isSchema(pair))
  const url = others.length === 0 ? base : `${base}?${others.join('&')}`
  try {
    const { hosts, database } = parseConnectionUrl(url)
    const places = hosts.map(({ host = 'localhost', port = 5432 }) => `${host}:${port}`)
    const label = `${places.join(',')}/${database ?? ''}, schema "${schema}"`
    return { url, schema, label, option }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ImportError(`The URL in ${option} ${reason}`, { cause: error })
  }
}
