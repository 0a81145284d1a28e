#!/usr/bin/env node
// Serves, like the program of this name in the image of envoyproxy/ratelimit. It is installed without its
// extension, so it has to be valid in both module systems of Node.
process.argv.splice(2, 0, 'serve')
import('/app/packages/ratelimit/src/main.ts')
