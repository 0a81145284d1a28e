#!/usr/bin/env node
// Starts the service without any arguments, like the program /bin/ratelimit of envoyproxy/ratelimit. The image has
// this file without its extension, so it must be valid both as a CommonJS module and as an ES module.
process.argv.splice(2, 0, 'serve')
import('/app/packages/ratelimit/src/main.ts')
