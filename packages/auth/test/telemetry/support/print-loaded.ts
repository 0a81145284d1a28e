import { registerHooks } from 'node:module'
import process from 'node:process'

// For `node --import`: prints the loaded OpenTelemetry packages to standard error.
const printed = new Set<string>()
registerHooks({
  load(url, context, nextLoad) {
    const [, name] = /node_modules\/(@opentelemetry\/[^/]+)/.exec(url) ?? []
    if (name !== undefined && !printed.has(name)) process.stderr.write(`loaded ${name}\n`)
    printed.add(name ?? '')
    return nextLoad(url, context)
  },
})
