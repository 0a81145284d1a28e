// A process that sends the messages in an outbox, to be killed by a test.
// Usage: outbox-process.ts DATABASE_URL SCHEMA SMTP_PORT
import { parseConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/db/database.ts'
import { openMessages } from '../../src/messages/sending/open-messages.ts'
import { toMailEnvironment } from './mail-environment.ts'

const [url = '', schema = '', port = ''] = process.argv.slice(2)
const log = { error: console.error, warning: console.error, info: console.error }
const db = openDatabase({ url, schema, maxPoolSize: 4, idleTimeoutMs: 10_000, log })
const { config } = parseConfig(toMailEnvironment(Number(port)))
openMessages({ config, db, log, sending: { pollMs: 50, sendTimeoutMs: 5_000, leaseMs: 1_000 } })
setInterval(() => undefined, 60_000)
