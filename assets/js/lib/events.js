// What pages and players tell each other, all of it: events of the document, but for fa:blocks and fa:answered.
//
//   fa:page {name}        another page is on screen                                     site/pages.js
//   fa:opened {part}      this part of the page has taken what the address says         site/pages.js
//   fa:tour               begin the guided tour                                         site/bar.js → step
//   fa:show {query}       show this Problem and place                 whoever embeds or measures the page → step
//   fa:compose            the mask builder                              a button of the controls → step
//   fa:predict            ask before each step, or no longer             site/bar.js, views/predict.js → step
//   fa:pass {pass}        show the other pass, forward or backward                      site/bar.js → step
//   fa:passed {pass}      this pass is shown                                            step → site/bar.js
//   fa:present            the Step page for a lecture hall                              site/bar.js → step
//   fa:present-here       the page on screen for a lecture hall                         site/bar.js → site/presentation.js
//   fa:leave-hall         back from it                                                  site/run_presentation.js → site/presentation.js
//   fa:save {kind}        save what is shown: png, svg, webm, html, json, npz           site/bar.js → step
//   fa:pick {query}       a tile was chosen on a picture; "" asks the server once more  site → site/picker.js
//   fa:blocks             a widget has drawn; bubbles                                   learn/widget.js → learn
//   fa:answered           a question {key, right}; bubbles                learn/questions.js → learn/lesson.js
//   fa:given              a run has given what it gives; bubbles             learn/kinds.js → learn/question_panel.js
//   fa:lesson {key}         show this lesson                                             site/back.js → learn/router.js
//
// To Gradio a component triggers "shown" (step/index.js: the controls are to follow the player), "picked"
// (site/picker.js) and "linked" (site/run.js: a link asks for the recorded sweep). Gradio calls by name what main.js lists.

/** @param {string} name @param detail what is told with it @param {EventTarget} to */
export function emit(name, detail = null, to = document) {
  to.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
}

/** @param {string} name @param act gets the detail */
export function listen(name, act) {
  document.addEventListener(name, ({ detail }) => act(detail));
}

/** Resolves when this is told with this detail. */
export function nextEvent(name, wanted) {
  const over = new AbortController();
  const listen =
    (done) =>
    ({ detail }) =>
      detail === wanted && (over.abort(), done());
  return new Promise((done) =>
    document.addEventListener(name, listen(done), { signal: over.signal }),
  );
}
