// tamis.d.ts compiled by TypeScript, found by the package's names as users' compilers find it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { build, room, source, web } from '../help.mjs';

const tsc = join(build, 'web-tools/node_modules/typescript/bin/tsc');

for (const [module, resolution] of [['nodenext', 'nodenext'], ['esnext', 'bundler']]) {
  test(`a program that uses everything, strictly, by ${resolution}`, (t) => {
    const dir = room(t);
    mkdirSync(join(dir, 'node_modules'));
    symlinkSync(web, join(dir, 'node_modules/tamis'));
    cpSync(join(source, 'web/test/types/sample.ts'), join(dir, 'sample.mts'));
    const run = spawnSync(process.execPath, [tsc, '--strict', '--noEmit', '--target', 'es2022',
      '--lib', 'es2022,dom,dom.iterable', '--module', module, '--moduleResolution', resolution,
        'sample.mts'],
    { cwd: dir, encoding: 'utf8' });
    assert.equal(run.stdout + run.stderr, '');
    assert.equal(run.status, 0);
  });
}
