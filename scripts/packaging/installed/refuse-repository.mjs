// Loaded first in each process of an installed command: loading a module of the repository instead
// of an installed one fails.

import { registerHooks } from 'node:module'

const repository = process.env['REFUSED_FOLDER_URL']

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    if (resolved.url.startsWith(repository)) {
      throw new Error(`${resolved.url} was loaded by ${context.parentURL}`)
    }
    return resolved
  },
})
