import type { Log } from '@portcullis/service-kit/log'
import { type FetchSettings, fetchGuarded } from '../../outgoing/guarded-fetch.ts'
import { parseHtmlTemplate, type Template } from '../../template/index.ts'

export interface TemplateSource {
  /** Undefined: not to be had now, and never before. It never fails. */
  find(): Promise<Template | undefined>
  /** It could be read, but not be used for one message. Others may not be concerned. */
  complain(reason: string): void
}

export interface TemplateSourceSettings {
  readonly url: URL
  /** For the log: which message it is for. */
  readonly name: string
  /** How long a copy is good. */
  readonly maxAgeMs: number
  /** After a failure, how long not to ask again. */
  readonly retryMs: number
  readonly fetching: FetchSettings
  readonly log: Pick<Log, 'warning' | 'info'>
  readonly now?: () => number
}

/** A template that lives on some web server. The last good copy serves while a newer is not to be had. */
export function createTemplateSource(settings: TemplateSourceSettings): TemplateSource {
  const { url, name, maxAgeMs, retryMs, fetching, log, now = Date.now } = settings
  let copy: Template | undefined
  let nextFetchAt = Number.NEGATIVE_INFINITY
  let fetched: Promise<void> | undefined
  let problem: string | undefined
  let complaint: string | undefined

  const fail = (reason: string): void => {
    nextFetchAt = now() + retryMs
    // A problem is told once, not with every message.
    if (problem === reason) return
    problem = reason
    const instead = copy === undefined ? 'the built-in one' : 'the last good copy'
    log.warning(
      `The template of the message ${name} is not available, ${instead} is used: ${reason}`,
    )
  }
  const fetchCopy = async (): Promise<void> => {
    try {
      copy = parseHtmlTemplate(await fetchGuarded(url, fetching))
      nextFetchAt = now() + maxAgeMs
      if (problem !== undefined) log.info(`The template of the message ${name} is available again`)
      problem = undefined
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error))
    }
  }
  return {
    async find() {
      if (now() >= nextFetchAt) {
        // All that wait, wait for one request.
        fetched ??= fetchCopy().finally(() => {
          fetched = undefined
        })
        await fetched
      }
      return copy
    },
    complain(reason) {
      if (complaint === reason) return
      complaint = reason
      log.warning(`The template of the message ${name} failed, the built-in one is used: ${reason}`)
    },
  }
}

/** A value without a scheme is a path of the site. */
export function toTemplateUrl(value: string, siteUrl: string): URL | undefined {
  const isWhole = /^[a-z][a-z0-9+.-]*:\/\//i.test(value)
  const text = isWhole
    ? value
    : `${siteUrl.replace(/[?#].*$/, '').replace(/\/+$/, '')}/${value.replace(/^\/+/, '')}`
  return URL.parse(text) ?? undefined
}
