import { registerHooks } from 'node:module'
import process from 'node:process'

// For `node --import`: prints the loaded OpenTelemetry modules on standard error.
registerHooks({
  load(url, context, nextLoad) {
    const [, name] = /node_modules\/(@opentelemetry\/[^/]+)/.exec(url) ?? []
    if (name !== undefined) process.stderr.write(`loaded ${name}\n`)
    return nextLoad(url, context)
  },
})
