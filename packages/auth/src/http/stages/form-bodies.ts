import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    takesForms?: boolean
  }
}

/** Whether the body of a request is a form, and its endpoint takes one. */
export function isForm({ headers, routeOptions }: FastifyRequest): boolean {
  const isFormType = /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')
  return isFormType && routeOptions.config.takesForms === true
}

/** Of a field that is there twice the first value counts. */
export function parseForm(text: string): Readonly<Record<string, string>> {
  // Without a prototype, so that a key such as __proto__ is nothing but a key.
  const fields: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) fields[name] ??= value
  return fields
}
