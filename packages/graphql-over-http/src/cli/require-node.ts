import process from 'node:process'

// The first import of every program, and the only one that loads on older versions: those would end with a
// stack trace about the first thing that they lack. `engines` in package.json says the same.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `This program needs Node 22.18 or later, and this is Node ${process.versions.node}. Install a newer one ` +
      'from https://nodejs.org or with your version manager, such as "nvm install 24".\n',
  )
  process.exit(1)
}
