(() => {
  // Open shadow roots, also those inside of others.
  const roots = from => {
    const found = [];
    for (const element of from.querySelectorAll('*')) {
      const root = element.shadowRoot;
      if (root) found.push(root, ...roots(root));
    }
    return found;
  };
  globalThis.snapshot = () => {
    const trees = [document, ...roots(document)];
    let elements = 0, text = 0;
    for (const tree of trees) {
      elements += tree.querySelectorAll('*').length;
      const top = tree === document ? document.documentElement : tree;
      text += top ? top.textContent.length : 0;
    }
    return { elements, text, complete: document.readyState === 'complete' };
  };
  // Two frames: what is observed in the first one is handled by the second.
  globalThis.drawn = () => new Promise(drawn =>
    requestAnimationFrame(() => requestAnimationFrame(drawn)));
  globalThis.dom = limit => {
    const top = document.documentElement;
    let html = '';
    if (top) {
      const shell = top.cloneNode(false).outerHTML;
      const end = shell.lastIndexOf('</');
      const inner = top.getHTML({ serializableShadowRoots: true, shadowRoots: roots(document) });
      html = (document.doctype ? '<!DOCTYPE html>' : '')
        + (end < 0 ? top.outerHTML : shell.slice(0, end) + inner + shell.slice(end));
    }
    return {
      html: html.length > limit ? null : html,
      url: location.href,
      title: String(document.title).slice(0, 10000),
    };
  };
})();
