import { captcha } from './auth/captcha.ts'
import { factorKind } from './auth/factor-kind.ts'
import { grant } from './auth/grant.ts'
import { hook } from './auth/hook.ts'
import { passwordFormat } from './auth/password-format.ts'
import { provider } from './auth/provider.ts'
import { smsGateway } from './auth/sms-gateway.ts'
import type { Drill } from './drill.ts'
import { adapter } from './graphql-over-http/adapter.ts'
import { audit } from './graphql-over-http/audit.ts'
import { command } from './portcullis/command.ts'
import { consolePage } from './portcullis/console-page.ts'
import { command as ratelimitCommand } from './ratelimit/command.ts'
import { counterStore } from './ratelimit/counter-store.ts'
import { ruleSource } from './ratelimit/rule-source.ts'
import { statisticsSink } from './ratelimit/statistics-sink.ts'

/** Every kind of extension that is added with one file and one entry in an index. */
export const drills: readonly Drill[] = [
  provider,
  smsGateway,
  captcha,
  hook,
  factorKind,
  passwordFormat,
  grant,
  consolePage,
  command,
  adapter,
  audit,
  counterStore,
  statisticsSink,
  ruleSource,
  ratelimitCommand,
]
