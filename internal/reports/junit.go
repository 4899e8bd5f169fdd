package reports

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type suiteXML struct {
	XMLName  xml.Name  `xml:"testsuite"`
	Name     string    `xml:"name,attr"`
	Tests    int       `xml:"tests,attr"`
	Failures int       `xml:"failures,attr"`
	Errors   int       `xml:"errors,attr"`
	Time     string    `xml:"time,attr,omitempty"`
	Cases    []caseXML `xml:"testcase"`
}

type caseXML struct {
	Name    string      `xml:"name,attr"`
	Class   string      `xml:"classname,attr"`
	Time    string      `xml:"time,attr,omitempty"`
	Failure *messageXML `xml:"failure,omitempty"`
	Error   *messageXML `xml:"error,omitempty"`
	Output  string      `xml:"system-out,omitempty"`
}

type messageXML struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// junit writes the cases as the report that CI servers read.
func (r *Report) junit(out io.Writer) error {
	suite := suiteXML{Name: r.Name, Tests: len(r.Cases)}
	total := 0.0
	for _, c := range r.Cases {
		total += c.Seconds
		one := caseXML{Name: c.Name, Class: c.Class, Time: seconds(c.Seconds)}
		text := cmp.Or(c.Detail, lines(c.Findings))
		switch c.Status {
		case Failed:
			suite.Failures++
			one.Failure = &messageXML{c.Message, text}
		case Broken:
			suite.Errors++
			one.Error = &messageXML{c.Message, text}
		default:
			one.Output = text
		}
		suite.Cases = append(suite.Cases, one)
	}
	suite.Time = seconds(total)
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(out, "%s%s\n", xml.Header, text)
	}
	return err
}

func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return fmt.Sprintf("%.3f", s)
}

// Place returns the file of a finding, with the line if it is known.
func (f Finding) Place() string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return f.File
}

func lines(findings []Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s: %s\n", f.Place(), f.Message)
	}
	return b.String()
}
