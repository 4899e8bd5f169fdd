// What the page does beyond what the server sends: keys, jumping to what is
// folded away, and keeping open what was open when a piece is replaced.
(function () {
  'use strict'

  function rows() { return Array.from(document.querySelectorAll('[data-row]')).filter(function (r) { return r.offsetParent !== null }) }

  function opener(row) { return row.querySelector('[data-open]') || row }

  function move(by) {
    var all = rows()
    if (all.length === 0) return
    var at = all.findIndex(function (r) { return r.contains(document.activeElement) })
    var next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(at + by, all.length - 1))]
    var to = opener(next)
    if (to === next) next.setAttribute('tabindex', '-1')
    to.focus()
    to.scrollIntoView({ block: 'nearest' })
  }

  // Whoever labels texts answers with one key. A key that is held answers once.
  document.addEventListener('keydown', function (e) {
    var form = document.querySelector('form.labelling')
    if (!form || e.ctrlKey || e.metaKey || e.altKey || e.repeat) return
    if (e.key === 'Escape' && e.target.id === 'reason') return e.target.blur()
    if (e.target.closest('input, textarea, select')) return
    if (e.key === 'r') {
      e.preventDefault()
      return document.getElementById('reason').focus()
    }
    var button = form.querySelector('[data-key="' + CSS.escape(e.key) + '"]')
    if (button) button.click()
  })

  document.addEventListener('keydown', function (e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input:not([type=checkbox]), textarea, select')) return
    switch (e.key) {
      case 'j': move(1); break
      case 'k': move(-1); break
      case '/':
        var filter = document.getElementById('filter')
        if (!filter) return
        unfold(filter)
        filter.focus()
        break
      case '?': document.querySelector('footer.site').scrollIntoView(); break
      default: return
    }
    e.preventDefault()
  })

  // On a narrow screen the filters are folded at first.
  if (matchMedia('(max-width: 44rem)').matches) document.querySelectorAll('.filters').forEach(function (d) { d.open = false })

  // unfold opens everything around an element, and the element.
  function unfold(to) { for (var e = to; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true }

  // reveal unfolds an element and goes there.
  function reveal(id) {
    var to = id && document.getElementById(id)
    if (!to) return false
    unfold(to)
    to.scrollIntoView({ block: 'start' })
    var focus = to.querySelector('summary') || to
    if (focus === to) to.setAttribute('tabindex', '-1')
    focus.focus({ preventScroll: true })
    return true
  }

  document.addEventListener('click', function (e) {
    var jump = e.target.closest('[data-jump]')
    if (!jump || e.ctrlKey || e.metaKey || !reveal(jump.dataset.jump)) return
    e.preventDefault()
    history.replaceState(null, '', '#' + jump.dataset.jump)
  })
  function arrive() { if (location.hash.length > 1) reveal(location.hash.slice(1)) }
  window.addEventListener('hashchange', arrive)
  document.addEventListener('DOMContentLoaded', arrive)

  // A piece that is replaced while the reader has something open in it.
  document.addEventListener('htmx:oobBeforeSwap', function (e) {
    var fresh = e.detail.fragment
    // After a break, what was added before is sent again.
    fresh.querySelectorAll('li.phase[id]').forEach(function (li) {
      if (li.parentElement && li.parentElement.closest('li.phase')) return // it goes with the row that it is in
      var there = document.getElementById(li.id)
      if (!there || e.detail.target === there) return
      keep(there, li)
      there.remove()
    })
    keep(e.detail.target, fresh)
  })

  // keep leaves in a fresh piece open what is open in the one that it replaces,
  // and what was fetched when it was opened where it is.
  function keep(old, fresh) {
    old.querySelectorAll('details[id]').forEach(function (d) {
      var same = fresh.querySelector('#' + CSS.escape(d.id))
      if (!same || same === d) return
      same.open = d.open
      var fetched = d.querySelector(':scope > [data-fetched], :scope > .body')
      var empty = same.querySelector(':scope > [hx-get]')
      if (!fetched || !empty) return
      var news = fetched.matches('.body') && (goesOn(d) || summary(d) !== summary(same))
      if (news && !d.open) return // it is fetched when it is opened again
      if (news) fetched.dataset.stale = empty.getAttribute('hx-get')
      empty.replaceWith(fetched)
    })
  }
  function goesOn(d) { return d.parentElement.matches('.s-running') }
  function summary(d) { return d.querySelector('summary').textContent }

  // What there is news of stands until it has come, and stays open as it is.
  function renew() {
    document.querySelectorAll('[data-stale]').forEach(function (body) {
      if (body.dataset.renewing) return // asked again when that has come
      var url = body.dataset.stale
      delete body.dataset.stale
      body.dataset.renewing = url
      fetch(url, { headers: { 'HX-Request': 'true' } }).then(function (r) { return r.ok ? r.text() : '' }, function () { return '' }).then(function (text) {
        delete body.dataset.renewing
        var fresh = new DOMParser().parseFromString(text, 'text/html').body.firstElementChild
        if (!fresh || !body.isConnected) return
        if (body.dataset.stale) fresh.dataset.stale = body.dataset.stale
        keep(body, fresh)
        body.replaceWith(fresh)
        htmx.process(fresh)
        renew()
      })
    })
    // What was opened and had not come when its place was taken is asked for again:
    // a piece that comes open tells nobody that it was opened.
    document.querySelectorAll('details[open] > [hx-get]:not([data-fetched])').forEach(function (empty) {
      empty.parentElement.dispatchEvent(new Event('toggle'))
    })
  }
  document.addEventListener('htmx:oobAfterSwap', renew)

  // What models are saying is shown at their calls, where these are on the page.
  document.addEventListener('htmx:oobAfterSwap', function () {
    document.querySelectorAll('#drafts > [data-draft]').forEach(function (d) {
      var call = document.getElementById(d.dataset.draft)
      if (call) call.innerHTML = d.innerHTML
    })
  })

  // A piece that has just come hears of nothing yet: what is opened in it is made
  // known before it is told.
  document.addEventListener('toggle', function (e) {
    var empty = e.target.open && e.target.querySelector(':scope > [hx-get]')
    if (empty) htmx.process(empty)
  }, true)

  // What was ticked in the list stays ticked.
  var ticked = []
  document.addEventListener('htmx:beforeSwap', function (e) {
    ticked = Array.from(e.detail.target.querySelectorAll('input:checked')).map(function (i) { return i.id })
  })
  document.addEventListener('htmx:afterSwap', function (e) {
    if (e.detail.target && e.detail.target.matches('details > [hx-get]')) e.detail.target.dataset.fetched = ''
    ticked.forEach(function (id) { var i = document.getElementById(id); if (i) i.checked = true })
    ticked = []
  })

  // What goes on is timed on from what the server said when it sent the piece.
  function elapsed(s) {
    if (s < 60) return Math.floor(s) + ' s'
    var two = function (n) { return (n < 10 ? '0' : '') + n }
    if (s < 3600) return Math.floor(s / 60) + ' m ' + two(Math.floor(s % 60)) + ' s'
    return Math.floor(s / 3600) + ' h ' + two(Math.floor(s / 60 % 60)) + ' m'
  }
  setInterval(function () {
    document.querySelectorAll('[data-ticks]').forEach(function (e) {
      if (!e.began) e.began = performance.now() - 1000 * e.dataset.ticks
      e.textContent = elapsed((performance.now() - e.began) / 1000)
    })
  }, 1000)

  // The drawing is made larger and smaller, and scrolled to a phase by its name.
  var graph
  document.addEventListener('DOMContentLoaded', function () { graph = document.querySelector('.graph') })
  function drawing() { return graph.querySelector('img') }
  function zoom(by) {
    var img = drawing()
    graph.classList.toggle('zoomed', by !== 0)
    if (by === 0) img.removeAttribute('width')
    else img.width = Math.max(100, Math.min(20000, Math.round(img.clientWidth * by)))
    find()
  }
  function find() {
    var here = graph.querySelector('.here')
    var asked = document.getElementById('filter').value
    var at = Array.from(document.querySelectorAll('#places option')).find(function (o) { return o.value === asked })
    here.hidden = !at
    if (!at) return
    var img = drawing()
    var scale = img.clientWidth / img.naturalWidth
    here.style.left = img.offsetLeft + at.dataset.x * scale + 'px'
    here.style.top = img.offsetTop + at.dataset.y * scale + 'px'
    here.style.width = at.dataset.w * scale + 'px'
    here.style.height = at.dataset.h * scale + 'px'
    here.scrollIntoView({ block: 'center', inline: 'center' })
  }
  document.addEventListener('click', function (e) {
    var button = graph && e.target.closest('[data-zoom]')
    if (button) zoom(Number(button.dataset.zoom))
  })
  document.addEventListener('input', function (e) { if (graph && e.target.id === 'filter') find() })
  document.addEventListener('submit', function (e) { if (e.target.matches('.graphing')) e.preventDefault() })

  // On paper nothing is folded that is there.
  window.addEventListener('beforeprint', function () {
    document.querySelectorAll('details').forEach(function (d) { if (!d.querySelector(':scope > [hx-get]:not([data-fetched])')) d.open = true })
  })
})()
